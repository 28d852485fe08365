package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/histories"
)

// limitFlag gives a command that reads histories the flag for their length.
func (a *app) limitFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&limitFlag{&a.limit}, "max-input", fmt.Sprintf("refuse a history of more bytes, unpacked; 0 is %d, and 256 times the size of a packed file", histories.DefaultLimit))
}

// limitFlag is the value of --max-input.
type limitFlag struct{ *histories.Limit }

func (l limitFlag) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return errors.New("expected a number of bytes")
	}
	*l.Limit = histories.Limit(n)
	return nil
}

func (l limitFlag) String() string {
	if l.Limit == nil {
		return "0"
	}
	return strconv.FormatInt(int64(*l.Limit), 10)
}

func (l limitFlag) Type() string { return "bytes" }

// tooLong says how to read a history that is refused for its length.
func tooLong(err error) error {
	if errors.Is(err, histories.ErrTooLong) {
		return fmt.Errorf("%w; --max-input raises it", err)
	}
	return err
}
