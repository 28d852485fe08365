package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// jsonVersion is in every object that a command prints, as "version". It
// changes when a field changes its meaning or goes away, and not when one is
// added. docs/json.md describes them all.
const jsonVersion = 1

// jsonFlag gives a command the flag that asks for JSON on stdout.
func jsonFlag(cmd *cobra.Command, wanted *bool) {
	cmd.Flags().BoolVar(wanted, "json", false, "one JSON object (see docs/json.md)")
}

// encode writes an object as one line of JSON, the version last.
func (a *app) encode(object any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		panic(err) // strings, numbers and lists of them always encode
	}
	fmt.Fprintf(a.out, "%s,\"version\":%d}\n", bytes.TrimSuffix(text.Bytes(), []byte("}\n")), jsonVersion)
}
