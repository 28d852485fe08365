package kafka

import (
	"context"
	"time"
)

// A pace lets a client work at a rate.
type pace struct{ ticker *time.Ticker }

// newPace returns a pace of one step in so long; 0 is as fast as it goes.
func newPace(every time.Duration) pace {
	if every <= 0 {
		return pace{}
	}
	return pace{time.NewTicker(every)}
}

// wait returns when the next step is due, or false once the context has ended.
func (p pace) wait(ctx context.Context) bool {
	if p.ticker == nil {
		return ctx.Err() == nil
	}
	select {
	case <-p.ticker.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (p pace) stop() {
	if p.ticker != nil {
		p.ticker.Stop()
	}
}

// pause waits, but not past the end of the context.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
