package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Await returns when the cluster answers clients of every side, and names so
// many brokers at least. If the context ends before, the error says what is
// lacking.
func Await(ctx context.Context, c Config, brokers int) error {
	for _, seeds := range c.Sides {
		if err := c.answering(ctx, seeds, brokers); err != nil {
			return err
		}
	}
	return nil
}

// answering returns when addresses name so many brokers.
func (c *Config) answering(ctx context.Context, seeds []string, brokers int) error {
	for {
		err := c.names(ctx, seeds, brokers)
		if err == nil {
			return nil
		}
		if pause(ctx, 2*backOff); ctx.Err() != nil {
			if errors.Is(err, context.Canceled) {
				return context.Cause(ctx) // which is all there is to say
			}
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// names asks which brokers there are.
func (c *Config) names(ctx context.Context, seeds []string, brokers int) error {
	cl, err := kgo.NewClient(c.options("isrcheck", kgo.RequestRetries(0), kgo.SeedBrokers(seeds...))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	all, err := kadm.NewClient(cl).ListBrokers(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no broker answers")
	}
	if err == nil && len(all) < brokers {
		err = fmt.Errorf("the cluster has %d of %d brokers", len(all), brokers)
	}
	return err
}
