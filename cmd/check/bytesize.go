package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// byteUnits are the units of a number of bytes. As with dd and ls, a single letter
// is a power of 1024.
var byteUnits = map[string]int64{
	"": 1, "B": 1,
	"K": 1 << 10, "KIB": 1 << 10, "KB": 1e3,
	"M": 1 << 20, "MIB": 1 << 20, "MB": 1e6,
	"G": 1 << 30, "GIB": 1 << 30, "GB": 1e9,
}

// byteSize reads a number of bytes, with a unit or without.
func byteSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "KMGIBkmgib")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit, known := byteUnits[strings.ToUpper(text[len(digits):])]
	if err != nil || n < 0 || !known || n > math.MaxInt64/unit {
		return 0, errors.New("expected a number of bytes, such as 1000000, 64MB (millions), 64MiB or 64M (times 1024 times 1024), with K, M or G")
	}
	return n * unit, nil
}

// byteFlag is the value of a flag that is a number of bytes.
type byteFlag int64

func (f *byteFlag) Set(text string) error {
	n, err := byteSize(text)
	if err == nil {
		*f = byteFlag(n)
	}
	return err
}

func (f *byteFlag) String() string { return strconv.FormatInt(int64(*f), 10) }

func (f *byteFlag) Type() string { return "bytes" }
