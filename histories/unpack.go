package histories

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A Limit is how many bytes a history may have, unpacked. Memory grows with
// them, so a limit keeps a small file from filling it. The zero Limit, which
// [Read], [ReadFile] and [Stream] have, is [DefaultLimit] bytes, and for packed
// data, once it has unpacked to 4 MiB, no more than 256 times its size: no
// recording packs that well, and files made to fill the memory do.
type Limit int64

// DefaultLimit is in bytes.
const DefaultLimit = 4 << 30

const (
	defaultRatio = 256
	freeOfRatio  = 4 << 20
)

// ErrTooLong says that a history is longer than its [Limit].
var ErrTooLong = errors.New("the history is longer than the limit")

// maxWindow bounds what a few bytes of zstd can ask for. Its own command line
// writes nothing that needs more, unless it is told to.
const maxWindow = 128 << 20

// Unpack returns what r holds, unpacked if its first bytes say that it is packed
// with gzip or zstd. Reading beyond the limit is an error that is [ErrTooLong].
func (l Limit) Unpack(name string, r io.Reader) (*bufio.Reader, error) {
	const size = 1 << 16
	in := &byteCounter{Reader: r}
	plain := bufio.NewReaderSize(in, size)
	head, _ := plain.Peek(4)
	b := &bounded{Reader: plain, limit: int64(l)}
	if l == 0 {
		b.limit, b.packed = DefaultLimit, in
	}
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		b.format = "gzip"
		b.Reader, err = gzip.NewReader(plain)
	case bytes.Equal(head, []byte("\x28\xb5\x2f\xfd")):
		b.format = "zstd"
		// One at a time, in the caller's goroutine: nothing needs closing.
		b.Reader, err = zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}
	if err != nil {
		return nil, &Error{File: name, Line: 1, Column: 1, Msg: b.damaged(err).Error(), cause: err}
	}
	return lenient(name, bufio.NewReaderSize(b, size)), nil
}

// A byteCounter counts what is read.
type byteCounter struct {
	io.Reader
	n int64
}

func (c *byteCounter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// A bounded reader ends at a limit, and says what is damaged when packed data is.
type bounded struct {
	io.Reader
	format string // "" if the data is not packed
	limit  int64
	packed *byteCounter // nil if the ratio does not matter
	n      int64
	err    error // the first one; it stays
}

func (b *bounded) Read(p []byte) (n int, err error) {
	if b.err == nil {
		n, b.err = b.read(p)
	}
	return n, b.err
}

func (b *bounded) read(p []byte) (int, error) {
	if b.packed != nil && b.n > freeOfRatio && b.n/defaultRatio > b.packed.n {
		return 0, fmt.Errorf("%w of %d times the size of its %s data (%d bytes so far)", ErrTooLong, defaultRatio, b.format, b.packed.n)
	}
	n, err := b.Reader.Read(p)
	if b.n += int64(n); b.n > b.limit {
		return n - int(b.n-b.limit), fmt.Errorf("%w of %d bytes", ErrTooLong, b.limit)
	}
	if err != nil && err != io.EOF && b.format != "" {
		err = b.damaged(err)
	}
	return n, err
}

func (b *bounded) damaged(err error) error {
	return fmt.Errorf("the %s data is cut off or damaged: %w", b.format, err)
}
