package kafka

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A File is where a recording goes while it is made: [Config.Out]. What was
// written reaches the disk's cache within [FlushEvery], in whole lines. Packed
// data goes out as one frame (zstd) or member (gzip) after another, each of
// which can be unpacked without the next, so that a recorder may be killed at any
// time and leave a history behind.
//
// It is safe for concurrent use.
type File struct {
	mu    sync.Mutex
	f     *os.File
	lines bytes.Buffer // not written yet
	pack  func([]byte) ([]byte, error)
	err   error // the first one; nothing is written after it
	old   bool  // there was a file of that name, and its content still stands
	begun bool
	stop  chan struct{}
	done  sync.WaitGroup
}

// FlushEvery is how much of a recording a killed recorder loses at most.
const FlushEvery = 100 * time.Millisecond

// flushAt bounds what is held back, in bytes.
const flushAt = 1 << 20

// FileNames are the endings of the names that [Create] takes. The notation is
// not among them: its lines hold answers, and so cannot be written as they come.
var FileNames = []string{".jsonl", ".jsonl.gz", ".jsonl.zst"}

// ErrFileName says that a name ends in none of [FileNames].
var ErrFileName = fmt.Errorf("expected a name that ends in one of %s", strings.Join(FileNames, ", "))

// Create makes a new file, packed as its name says. If there is one of that name
// already, the error is [fs.ErrExist] unless it is to be replaced, which it is
// by the first lines that are written.
func Create(path string, replace bool) (*File, error) {
	i := slices.IndexFunc(FileNames, func(end string) bool { return strings.HasSuffix(path, end) })
	if i < 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrFileName)
	}
	pack := []func([]byte) ([]byte, error){unpacked, gzipped, zstded}[i]
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o666)
	old := replace && errors.Is(err, fs.ErrExist)
	if old {
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	}
	if err != nil {
		return nil, err
	}
	out := &File{f: f, pack: pack, old: old, stop: make(chan struct{})}
	out.done.Go(out.flushNowAndThen)
	return out, nil
}

// Write takes whole lines.
func (f *File) Write(lines []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	f.lines.Write(lines)
	if f.lines.Len() >= flushAt {
		f.flush()
	}
	return len(lines), f.err
}

// Close writes what is left. The error is the first of all that went wrong. If
// nothing was ever written, there is no new file, and an old one is as it was.
func (f *File) Close() error {
	close(f.stop)
	f.done.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush()
	err := cmp.Or(f.err, f.f.Sync(), f.f.Close())
	if !f.begun && !f.old {
		err = cmp.Or(err, os.Remove(f.f.Name()))
	}
	return err
}

func (f *File) flushNowAndThen() {
	tick := time.NewTicker(FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.mu.Lock()
			f.flush()
			f.mu.Unlock()
		case <-f.stop:
			return
		}
	}
}

// flush writes all lines, with one call.
func (f *File) flush() {
	if f.err != nil || f.lines.Len() == 0 {
		return
	}
	packed, err := f.pack(f.lines.Bytes())
	if err == nil && f.old && !f.begun {
		err = f.f.Truncate(0)
	}
	f.begun = true
	if err == nil {
		_, err = f.f.Write(packed)
	}
	f.err = err
	f.lines.Reset()
}

func unpacked(lines []byte) ([]byte, error) { return lines, nil }

// gzipped packs lines as a gzip member.
func gzipped(lines []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(lines)
	err = cmp.Or(err, z.Close())
	return out.Bytes(), err
}

// zstded packs lines as a zstd frame.
func zstded(lines []byte) ([]byte, error) { return packer().EncodeAll(lines, nil), nil }

var packer = sync.OnceValue(func() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return z
})
