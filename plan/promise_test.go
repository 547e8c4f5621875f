package plan

import (
	"strings"
	"testing"
)

// What is said is what holds against whom for all reports of a client together, the local
// total first.
func TestPromisesInWords(t *testing.T) {
	two, eight, ten, half := 2., 8., 9.99911, 0.50001
	for _, c := range []struct {
		promise Promise
		short   string
		holds   []string
		lacks   []string
	}{
		{Promise{Participations: 3}, "no privacy", []string{"the server sees every gradient"}, []string{"shuffle"}},
		{Promise{Central: &half, Delta: 1e-6, Participations: 1}, "central ε = 0.5001 if shuffled",
			[]string{"local privacy      none", "ε = 0.5001, δ = 1e-06", "This assumes an honest shuffler",
				"Someone who sees only that, and guesses which of two inputs the client has, is right at most 62.3 % of the time (50 % is a coin toss)."}, []string{"composed", "reads the report"}},
		{Promise{Central: &half, Delta: 0.1, Participations: 1}, "central ε = 0.5001 if shuffled", []string{"is right at most 66.1 % of the time (50 % is a coin toss)."}, nil}, // (√e+0.1)/(√e+1)
		{Promise{Local: &two, LocalTotal: &two, Central: &half, Delta: 1e-6, Participations: 1}, "local ε = 2, central ε = 0.5001 if shuffled",
			[]string{"ε = 2, δ = 0 for the one report of a client: against everybody", "Someone who reads the report, and guesses which of two gradients the client has, is right at most 88.1 % of the time (50 % is a coin toss)."}, []string{"composed", "links"}},
		{Promise{Local: &two, LocalTotal: &ten, Central: &half, Delta: 1e-6, Participations: 5}, "local ε = 10, central ε = 0.5001 if shuffled",
			[]string{"ε = 10, δ = 0 for the 5 reports of a client together: against everybody", "One report has ε = 2.", "is right at most 88.1 % of the time", "Anyone who can link all reports of a client can tell its gradients apart",
				"against anyone who sees only the shuffled reports", "composed over the 5 rounds"}, nil},
		{Promise{Central: &half, TwoServers: true, Delta: 1e-6, Participations: 1}, "central ε = 0.5001 against either server alone",
			[]string{"none: the two servers together read a client's gradient", "against either server alone", "one of the two servers is honest"}, []string{"local privacy      ε"}},
		{Promise{Unit: Record, Central: &two, LocalDelta: 0.5, TwoServers: true, Delta: 1e-6, Participations: 2}, "central ε = 2 against either server alone, about one record",
			[]string{"which of two inputs the record has, is right at most 88.1 % of the time"}, nil}, // the local δ is another
		{Promise{Local: &two, LocalTotal: &ten, LocalDelta: 4.99999e-8, Participations: 5}, "local ε = 10", []string{"ε = 10, δ = 5e-08 for the 5 reports"}, []string{"central"}},
		{Promise{Local: &eight, LocalTotal: &eight, Participations: 1}, "local ε = 8", []string{"is right at most 99.97 % of the time"}, []string{"100"}}, // 0.99966
		{Promise{Local: &two, LocalTotal: &two, LocalDelta: 0.1, Participations: 1}, "local ε = 2", []string{"is right at most 89.3 % of the time"}, nil}, // (e²+0.1)/(e²+1)
		{Promise{Local: &half, LocalTotal: &two, LocalDelta: 0.5, Participations: 4}, "local ε = 2", []string{"has, is right at most 81.2 % of the time", "is right at most 94.1 % of the time"}, nil},
		{Promise{Unit: Record, Local: &half, LocalTotal: &two, LocalDelta: 1e-6, Participations: 4}, "local ε = 2, about one record",
			[]string{"ε = 2, δ = 1e-06 for one record in all 4 rounds together", "The number of a site's records is public."}, []string{"client"}},
		{Promise{Participations: 5, Seed: 9}, "no privacy: the seed repeats the noise", []string{"none: the seed repeats the noise", "guesses 9"}, []string{"ε", "against"}},
	} {
		var b strings.Builder
		if err := c.promise.Print(&b); err != nil || c.promise.String() != c.short {
			t.Errorf("%v, want %s, %v", c.promise, c.short, err)
		}
		flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
		fitsATerminal(t, b.String())
		for _, want := range c.holds {
			if !strings.Contains(flat(b.String()), flat(want)) {
				t.Errorf("%v lacks %q:\n%s", c.promise, want, b.String())
			}
		}
		for _, no := range c.lacks {
			if strings.Contains(b.String(), no) {
				t.Errorf("%v has %q:\n%s", c.promise, no, b.String())
			}
		}
		if local, central := strings.Index(b.String(), "local privacy"), strings.Index(b.String(), "central privacy"); central >= 0 && !(local >= 0 && local < central) {
			t.Errorf("%v: what holds against everybody does not come first:\n%s", c.promise, b.String())
		}
	}
}
