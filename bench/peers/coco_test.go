package main

import (
	"math"
	"strings"
	"testing"
)

// The sum of many reports is the true one. A report adds −g, 0 or g to the
// unbiased estimate of a coordinate, so by Hoeffding's inequality n reports miss
// the true sum of one of the dim coordinates by more than
//
//	g·√(2n·ln(2·dim/α))
//
// with probability at most α. Two cases at α = 4e-6 each.
func TestCoCoSumsWithinItsNoise(t *testing.T) {
	const n, alpha = 60_000, 4e-6
	xs := sample(3)
	for name, newContender := range map[string]func(*testing.T) contender{
		"default": func(t *testing.T) contender { return open(t, newDefaultCoCo) },
		"ideal":   func(t *testing.T) contender { return open(t, newIdealCoCo) },
	} {
		t.Run(name, func(t *testing.T) {
			g := gain(t, newContender(t))
			tolerance := g * math.Sqrt(2*n*math.Log(2*float64(small.Dim)/alpha))
			if tolerance > n/6 {
				t.Fatalf("tolerance %.0f: too wide to separate a coordinate of one vector, %d, from zero", tolerance, n/3)
			}
			c := newContender(t)
			want := total(xs)
			for i := range n {
				send(t, c, xs[i%len(xs)])
			}
			worst := 0.0
			for j, got := range sumOf(t, c) {
				miss := math.Abs(got - want[j]*n/float64(len(xs)))
				worst = max(worst, miss)
				if miss > tolerance {
					t.Errorf("coordinate %d: got %.0f, want %.0f ± %.0f", j, got, want[j]*n/float64(len(xs)), tolerance)
				}
			}
			t.Logf("g = %.3g, tolerance %.0f, largest miss %.0f", g, tolerance, worst)
		})
	}
}

// gain is the largest number that one report can add to a coordinate: what the
// first report that hits any coordinate does add.
func gain(t *testing.T, c contender) float64 {
	t.Helper()
	x := sample(1)[0]
	for range 100 {
		send(t, c, x)
		g := 0.0
		for _, v := range sumOf(t, c) {
			g = max(g, math.Abs(v))
		}
		if g > 0 {
			return g
		}
	}
	t.Fatal("100 reports hit no coordinate")
	return 0
}

func TestCoCoNamesItsFamilyAndItsGuarantee(t *testing.T) {
	a := open(t, newIdealCoCo).about()
	if !strings.Contains(a.Name, `"ideal"`) || !strings.Contains(a.Guarantee, "ε=5") || !strings.Contains(a.Guarantee, "local") {
		t.Errorf("about %+v", a)
	}
	if a := open(t, newDefaultCoCo).about(); !strings.Contains(a.Name, "default") {
		t.Errorf("about %+v", a)
	}
}

// What a client does before its first report is to open the round.
func TestCoCoJoinsTheRound(t *testing.T) {
	c := open(t, newDefaultCoCo).(*cocoContender)
	if err := c.join(); err != nil {
		t.Error(err)
	}
	c.round.Dim = 0
	if err := c.join(); err == nil {
		t.Error("joined a round of no coordinates")
	}
}
