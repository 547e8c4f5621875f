package histograms

import (
	"math"
	"strings"
	"testing"
)

// alike has scores of 2 and 4 for all methods, and better ones for one, all with the
// standard error 0.5 of the difference of two.
func alike(own ...string) []score {
	scores := make([]score, len(methods))
	for j, m := range methods {
		scores[j] = score{measured{2, 0.3}, measured{4, 0.3}}
		for _, name := range own {
			if m.name == name {
				scores[j] = score{measured{1, 0.4}, measured{3, 0.4}}
			}
		}
	}
	return scores
}

func change(scores []score, name string, to score) {
	for j, m := range methods {
		if m.name == name {
			scores[j] = to
		}
	}
}

// 0.5 is 1 standard error: below 2 no method wins, above 2 one does.
func TestVerdict(t *testing.T) {
	s := setting{sorted, 5}
	for _, c := range s.contenders() {
		v := c.verdict(s, alike(c.pac, c.mse))
		if !v.Holds || strings.Contains(v.Detail, "clearly beats 5") || strings.Count(v.Detail, "ties with") != 10 {
			t.Errorf("%s, two standard errors: %+v", c.name, v)
		}
		for _, b := range baselines {
			scores := alike(c.pac, c.mse)
			change(scores, b, score{measured{2.01, 0.3}, measured{4.01, 0.3}})
			v := c.verdict(s, scores)
			if want := "clearly beats 1 of 5, the closest of them " + b + " ("; !v.Holds || strings.Count(v.Detail, want) != 2 {
				t.Errorf("%s, %s is worse: %+v", c.name, b, v)
			}
			for _, better := range []score{{measured{2, 0.3}, measured{1.99, 0.3}}, {measured{-0.01, 0.3}, measured{4, 0.3}}} {
				scores := alike(c.pac, c.mse)
				change(scores, b, better)
				v := c.verdict(s, scores)
				if v.Holds || strings.Count(v.Detail, "loses to "+b+" (") != 1 || (c == heuristic) != strings.Contains(v.Detail, "own generator") {
					t.Errorf("%s, %s is better: %+v", c.name, b, v)
				}
			}
			almost := alike(c.pac, c.mse)
			change(almost, b, score{measured{0.01, 0.3}, measured{2.01, 0.3}})
			if v := c.verdict(s, almost); !v.Holds {
				t.Errorf("%s, %s is better by less than two standard errors: %+v", c.name, b, v)
			}
		}
	}
}

// The quantile is that of the PAC weights, the squared error that of the MSE weights,
// and each setting has the weights made for it.
func TestContenders(t *testing.T) {
	for _, s := range settings {
		for _, c := range s.contenders() {
			own := map[bool][]string{
				true:  {"A", "U, PAC", "U, MSE", "U, calibrated, PAC", "U, calibrated, MSE"},
				false: {"A", "C, PAC", "C, MSE", "C, calibrated, PAC", "C, calibrated, MSE"},
			}[s.dependence == uncorrelated]
			if !strings.Contains(strings.Join(own, ";"), c.pac) || !strings.Contains(strings.Join(own, ";"), c.mse) {
				t.Errorf("%v: %+v", s, c)
			}
			scores := alike()
			change(scores, c.pac, score{measured{7, 0.3}, measured{-7, 0.3}})
			if c.mse != c.pac {
				change(scores, c.mse, score{measured{-7, 0.3}, measured{7, 0.3}})
			}
			if v := c.verdict(s, scores); v.Holds || strings.Count(v.Detail, "loses to") != map[bool]int{true: 5, false: 10}[c == heuristic] {
				t.Errorf("%v, scored by the other measure: %+v", s, v)
			}
		}
	}
}

func TestApart(t *testing.T) {
	for _, c := range []struct {
		own, other measured
		want       float64
	}{
		{measured{1, 3}, measured{11, 4}, 2},
		{measured{11, 3}, measured{1, 4}, -2},
		{measured{1, 0}, measured{2, 0}, math.Inf(1)},
		{measured{1, 0}, measured{1, 0}, 0},
	} {
		if got := c.own.apart(c.other); got != c.want {
			t.Errorf("%v and %v: %g, want %g", c.own, c.other, got, c.want)
		}
	}
}
