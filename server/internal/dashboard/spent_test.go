package dashboard

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
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

// What fewer reports than rounds cost is at least what they cost in the rounds that cost most, and is said of one report where no run
// says another number.
func TestFewerReportsCostAtMostWhatIsSaid(t *testing.T) {
	t.Parallel()
	dear := kindOf(t, cocoRound("dear"), nil, 3) // ε of 2
	cheap := kindOf(t, cocoRound("cheap"), func(r *fl.Round) { r.Epsilon = 1e-11 }, 2)
	none := kindOf(t, fl.Round{ID: "none", Mechanism: baseline.None, Dim: 4, Scale: 1, Epsilon: math.Inf(1), MinReports: 1}, nil, 1)
	for name, c := range map[string]struct {
		kinds   []overview.Kind
		unknown int
		said    []float64
		want    string
	}{
		"unsaid":         {kinds: []overview.Kind{dear, cheap}, want: "{1 false {2 0 }}"},
		"two":            {kinds: []overview.Kind{dear, cheap}, said: []float64{1, 2}, want: "{2 true {4 0 }}"},
		"tiny":           {kinds: []overview.Kind{cheap}, said: []float64{1}, want: "{1 true {1e-11 0 }}"},
		"in all rounds":  {kinds: []overview.Kind{dear, cheap}, said: []float64{5}, want: "none"},
		"half a report":  {kinds: []overview.Kind{dear, cheap}, said: []float64{1.5}, want: "none"},
		"no report":      {kinds: []overview.Kind{dear, cheap}, said: []float64{0}, want: "none"},
		"too many":       {kinds: []overview.Kind{dear, cheap}, said: []float64{1e300}, want: "none"},
		"no privacy":     {kinds: []overview.Kind{dear, none}, said: []float64{1}, want: "none"},
		"unknown rounds": {kinds: []overview.Kind{dear}, unknown: 1, said: []float64{1}, want: "none"},
	} {
		o := overview.Overview{Kinds: c.kinds, Unknown: c.unknown}
		for i, k := range c.said {
			if i == 0 {
				o.Series = []overview.Series{{Name: client.ReportsOfAClient}}
			}
			o.Series[0].Points = append(o.Series[0].Points, overview.Point{Round: i + 1, Value: k})
		}
		kinds := make([]*kind, len(c.kinds))
		for i, k := range c.kinds {
			kinds[i] = newKind(t.Context(), k.Round, 1e-6)
		}
		got := "none"
		if f := fewerIn(o, kinds); f != nil {
			got = fmt.Sprint(*f)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
