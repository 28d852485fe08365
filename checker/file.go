package checker

import (
	"context"
	"errors"
	"os"

	"github.com/isrcheck/isrcheck/histories"
)

// CheckFile judges the history in a file, in either encoding, packed or not. A
// file of events that is plainly legal is judged while it is read, in memory
// that grows with the log and not with the history; any other is read as a
// whole, and a violation is explained (see [Explain]). The error is about the input, never about what it shows.
func CheckFile(ctx context.Context, path string, opts Options) (*Result, histories.Header, error) {
	if opts.Engine == Auto {
		r, h, err := checkStream(path, opts.MaxInput)
		if r != nil || errors.Is(err, histories.ErrTooLong) {
			return r, h, err
		}
	}
	h, err := opts.MaxInput.ReadFile(path)
	if err != nil {
		return nil, histories.Header{}, err
	}
	r := Check(ctx, h, opts)
	Explain(ctx, h, r, opts)
	return r, h.Header(), nil
}

// checkStream judges a file while it is read, if it can be opened twice. Without
// a result, the file has to be read as a whole, unless the error is of its length.
func checkStream(path string, limit histories.Limit) (*Result, histories.Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, histories.Header{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, histories.Header{}, err
	}
	s := &quickSink{}
	if err := limit.Stream(path, f, s); err != nil {
		return nil, histories.Header{}, err
	}
	r, _ := s.conclude()
	return r, s.header, nil
}

// A quickSink lets the quick judge see a history while it is read.
type quickSink struct {
	*quick
	header histories.Header
}

func (s *quickSink) Header(h histories.Header) bool {
	s.quick, s.header = newQuick(h.Config), h
	return !s.gaveUp
}

func (s *quickSink) Op(o *histories.Op, process int) bool {
	s.op(o, process)
	return !s.gaveUp
}

func (s *quickSink) Mark(m *histories.Mark) bool {
	s.mark(m)
	return !s.gaveUp
}
