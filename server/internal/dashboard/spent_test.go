package dashboard

import (
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// What a client has spent grows with each kept round, counts the forgotten ones from the start, ends where all
// rounds together end, and stops at a round without local privacy.
func TestWhatIsSpentGrowsByRound(t *testing.T) {
	t.Parallel()
	dear := kindOf(t, cocoRound("dear"), nil, 3) // ε of 2, and two of the rounds are forgotten
	cheap := kindOf(t, cocoRound("cheap"), func(r *fl.Round) { r.Epsilon = 0.1 }, 2)
	none := kindOf(t, fl.Round{ID: "none", Mechanism: baseline.None, Dim: 4, Scale: 1, Epsilon: math.Inf(1), MinReports: 1}, nil, 1)
	spent := func(kinds []overview.Kind, unknown int, kept ...int) (out []string) {
		t.Helper()
		o := overview.Overview{Kinds: kinds, Unknown: unknown}
		for _, k := range kept {
			o.Rounds = append(o.Rounds, overview.Round{Round: kinds[k].Round, Kind: k})
		}
		d := New(&source{o: o}, Config{})
		go d.Run(t.Context())
		s := until(t, d, "promises", func(s State) bool { return s.Together.Composed > 0 })
		for _, r := range s.Rounds {
			if r.Spent == nil {
				out = append(out, "none")
				continue
			}
			if r.Spent.Delta != "0" {
				t.Errorf("δ is %s", r.Spent.Delta)
			}
			out = append(out, r.Spent.Epsilon)
		}
		if last := s.Rounds[len(s.Rounds)-1].Spent; last != nil && *last != *s.Together.Promise.Local {
			t.Errorf("all rounds have %+v, and the last one %+v", s.Together.Promise.Local, last)
		}
		return out
	}
	for _, c := range []struct{ got, want []string }{
		{spent([]overview.Kind{dear, cheap}, 0, 1, 0, 1), []string{"4.1", "6.1", "6.2"}},
		{spent([]overview.Kind{dear, none}, 0, 0, 1), []string{"6", "none"}},
		{spent([]overview.Kind{dear}, 1, 0), []string{"none"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
