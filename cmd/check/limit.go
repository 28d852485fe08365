package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/histories"
)

// limitFlag gives a command that reads histories the flag for their length.
func (a *app) limitFlag(cmd *cobra.Command) {
	cmd.Flags().Var((*byteFlag)(&a.limit), "max-input", fmt.Sprintf("refuse a history of more bytes (K, M, GiB...), unpacked; 0 is %d, and 256 times the size of a packed file", histories.DefaultLimit))
}

// tooLong says how to read a history that is refused for its length.
func tooLong(err error) error {
	if errors.Is(err, histories.ErrTooLong) {
		return fmt.Errorf("%w; --max-input raises it", err)
	}
	return err
}
