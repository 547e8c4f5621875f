package client_test

import (
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
)

func TestOptionsRefuse(t *testing.T) {
	for param, options := range map[string][]client.Options{
		"Attempts":   {{Attempts: -1}},
		"BatchBytes": {{BatchBytes: -5}, {BatchBytes: 1<<20 + 1}, {BatchBytes: 2 << 20}},
		"Purpose":    {{Ledger: openLedger(t, 1)}, {Purpose: "digits"}}, // they go together
	} {
		for _, opts := range options {
			_, err := client.New(nil, opts)
			var p *fl.ParamError
			if !errors.As(err, &p) || p.Param != param {
				t.Errorf("New(%+v): %v, want a ParamError for %s", opts, err, param)
			}
		}
	}
}
