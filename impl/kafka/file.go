package kafka

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A File is where a recording goes while it is made: [Config.Out]. It appears
// with the first lines, which hold the header, and before that an old file of the
// name is as it was. What is written later reaches the disk's cache within
// [FlushEvery], in whole lines. Packed data goes out as one frame (zstd) or member
// (gzip) after another, each of which can be unpacked without the next. A recorder
// that is killed may leave a last one that is cut off, which readers leave out
// ([histories.WrittenAsItGoes]).
//
// It is safe for concurrent use.
type File struct {
	path string
	pack func([]byte) ([]byte, error)

	mu    sync.Mutex
	f     *os.File     // nil until the first lines are in it
	lines bytes.Buffer // not written yet
	err   error        // the first one; nothing is written after it
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

// ErrRemoved says that the name of a [File] is another one's by now, or nobody's,
// so that what was written to it is not found there.
var ErrRemoved = errors.New("the file was removed or replaced while it was written")

// Create makes a new file, packed as its name says. If there is one of that name
// already, the error is [fs.ErrExist] unless it is to be replaced.
func Create(path string, replace bool) (*File, error) {
	i := slices.IndexFunc(FileNames, func(end string) bool { return strings.HasSuffix(path, end) })
	if i < 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrFileName)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: %w", path, ErrFileName)
	}
	if _, err := os.Lstat(path); err == nil && !replace {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	hidden, err := createHidden(path)
	if err != nil {
		return nil, err
	}
	// It was only to see whether there can be one: the cluster may take its time,
	// and who is killed until then leaves nothing behind.
	if err := cmp.Or(hidden.Close(), os.Remove(hidden.Name())); err != nil {
		return nil, err
	}
	out := &File{path: path, pack: []func([]byte) ([]byte, error){unpacked, gzipped, zstded}[i], stop: make(chan struct{})}
	out.done.Go(out.flushNowAndThen)
	return out, nil
}

// createHidden makes a file beside the one of that name.
func createHidden(path string) (*os.File, error) {
	hidden, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		var e *fs.PathError
		if errors.As(err, &e) {
			err = e.Err // it names the hidden file
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return hidden, nil
}

// Write takes whole lines.
func (f *File) Write(lines []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	f.lines.Write(lines)
	if f.lines.Len() >= flushAt || f.f == nil {
		f.flush()
	}
	return len(lines), f.err
}

// Close writes what is left. The error is the first of all that went wrong. If
// nothing was ever written, there is no file.
func (f *File) Close() error {
	close(f.stop)
	f.done.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush()
	if f.f == nil {
		return f.err
	}
	return cmp.Or(f.err, f.f.Sync(), f.f.Close())
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
	switch {
	case err != nil:
	case f.f == nil:
		err = f.show(packed)
	default:
		_, err = f.f.Write(packed)
		err = cmp.Or(err, f.there())
	}
	f.err = err
	f.lines.Reset()
}

// there returns an error if the file is not the one of its name any more.
func (f *File) there() error {
	ours, err := f.f.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(f.path); err != nil || !os.SameFile(ours, now) {
		return fmt.Errorf("%s: %w", f.path, ErrRemoved)
	}
	return nil
}

// show makes the file, with the first lines in it: a hidden one first, which is
// then given its name. Not every system renames a file that is open.
func (f *File) show(first []byte) error {
	hidden, err := createHidden(f.path)
	if err != nil {
		return err
	}
	_, err = hidden.Write(first)
	_ = hidden.Chmod(0o644) // where there is no such thing, it does not matter
	if err = cmp.Or(err, hidden.Close()); err == nil {
		err = os.Rename(hidden.Name(), f.path)
	}
	if err != nil {
		return cmp.Or(err, os.Remove(hidden.Name()))
	}
	f.f, err = os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		f.f = nil
	}
	return err
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
