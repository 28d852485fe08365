package checker

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/isrcheck/isrcheck/histories"
)

// CheckFile judges the history in a file, in either encoding, packed or not. A
// file of events is judged while it is read, in memory that grows with the log
// and with what looks wrong, not with the history; any other, and one that
// cannot be judged so, is read as a whole, and a violation in it is explained
// (see [Explain]). The error is about the input, never about what it shows.
func CheckFile(ctx context.Context, path string, opts Options) (*Result, histories.Header, error) {
	if opts.Engine == Auto {
		r, h, err := checkStream(ctx, path, opts)
		switch {
		case r == nil && !errors.Is(err, histories.ErrTooLong):
		case r == nil || r.Verdict != Violates:
			return r, h, err
		default:
			if why := r.Exercised.weight().exceeds(opts.Memory, "the history as a whole"); why != "" {
				r.Legal = &Prefix{Skipped: why}
				return r, h, nil
			}
		}
	}
	if r, h := weighFile(path, opts); r != nil {
		return r, h, nil
	}
	h, err := opts.MaxInput.ReadFile(path)
	if err != nil {
		return nil, histories.Header{}, err
	}
	r := Check(ctx, h, opts)
	Explain(ctx, h, r, opts)
	return r, h.Header(), nil
}

// checkStream judges a file while it is read, if it can be opened more than
// once. Without a result, the file has to be read as a whole, unless the error
// is of its length.
func checkStream(ctx context.Context, path string, opts Options) (*Result, histories.Header, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, histories.Header{}, err
	}
	var err error
	r, h, _ := judgeSuspects(ctx, replay{to: func(sink histories.Sink) bool {
		err = stream(path, sink, opts.MaxInput)
		return err == nil
	}}, opts, sectioned)
	if r != nil {
		err = nil // a sink that ended the reading knows why
	}
	return r, h, err
}

func stream(path string, sink histories.Sink, limit histories.Limit) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return limit.Stream(path, f, sink)
}

// packing is how many times its size a file may hold.
const packing = 40

// weighFile returns a result if a file of events would take more memory than the
// budget if it were read as a whole. Only one that is long enough is weighed.
func weighFile(path string, opts Options) (r *Result, h histories.Header) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size()*packing < cmp.Or(opts.Memory, DefaultMemory) {
		return nil, h
	}
	s := &scale{}
	if stream(path, s, opts.MaxInput) != nil {
		return nil, h
	}
	if why := s.exceeds(opts.Memory, "the history as a whole"); why != "" {
		r = tooHeavy(s.header.Config, Exercised{Operations: int(s.ops)}, why)
	}
	return r, s.header
}
