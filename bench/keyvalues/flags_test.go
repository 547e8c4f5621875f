package keyvalues

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// Every flag of every experiment has its range.
func TestBadFlagsAreErrors(t *testing.T) {
	clients := map[string][]string{"--clients": {"-5", "-1", "1000000001"}}
	own := map[string]map[string][]string{"fig4-pckv": nil, "fig10-pckv": {"--padding": {"-1", "1", "200000000"}}}
	for _, e := range Experiments() {
		flags, other := own[e.Name]
		if !other {
			flags = clients
		}
		for flag, values := range flags {
			for _, value := range values {
				_, err := start(t, t.Context(), e.Name, experiment.Env{Quick: true, Jobs: 1}, flag, value)
				var p *fl.ParamError
				if !errors.As(err, &p) || p.Param != flag {
					t.Errorf("%s %s %s: %v, want a ParamError for %s", e.Name, flag, value, err, flag)
				}
			}
		}
		without := []string{experiment.FlagData}
		if !strings.HasSuffix(e.Name, "-pckv") { // every repeat is a draw
			without = append(without, experiment.FlagSeeds)
		}
		if e.Name == "fig4-pckv" { // computes
			without = []string{experiment.FlagData, experiment.FlagQuick, experiment.FlagRepeats, experiment.FlagSeed}
		}
		if !slices.Equal(slices.Sorted(slices.Values(e.Without)), without) {
			t.Errorf("%s is without %q, want %q", e.Name, e.Without, without)
		}
	}
}

// A number of clients that is asked for is the number of clients, in a quick run, too, and
// the picture says which it is.
func TestClientsAreThoseAskedFor(t *testing.T) {
	for _, c := range []struct{ name, clients, want string }{
		{"fig6-pckv", "300", "n = 300,"}, {"fig6-pckv", "100001", "n = 100001,"}, {"fig6-pckv", "0", "n = 100000,"},
	} {
		r, err := start(t, t.Context(), c.name, experiment.Env{Quick: true, Jobs: 2, Repeats: 2}, "--clients", c.clients)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Notes[1], c.want) || !strings.Contains(r.Plot.Title, c.want) {
			t.Errorf("%s --clients %s: note %q, title %q, want %q", c.name, c.clients, r.Notes[1], r.Plot.Title, c.want)
		}
	}
}
