package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/plan"
)

// fitsATerminal checks that no printed line has more than 80 columns.
func fitsATerminal(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// What holds against whom fits, whatever the ε are.
func TestThePartiesFitATerminal(t *testing.T) {
	central, local := 0.99971, 1234.5
	for _, p := range []plan.Promise{
		{Central: &central, Delta: 1.25e-10, Local: &local, LocalTotal: &local, LocalDelta: 1.25e-10, Participations: 1000},
		{Central: &central, Delta: 1.25e-10, TwoServers: true, Participations: 1},
	} {
		var out strings.Builder
		if err := (parties.Options{Apart: true}).Print(&out, p, 10_000_000); err != nil {
			t.Fatal(err)
		}
		fitsATerminal(t, out.String())
		if n := strings.Count(out.String(), "  sees "); n != 7 {
			t.Errorf("%d sets of parties, want 7:\n%s", n, out.String())
		}
	}
}
