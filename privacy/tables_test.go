package privacy

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var Long = flag.Bool("long", false, "compare curves at more points, and compose more rounds")

// A curve is Delta, in whatever order it is asked and also where its tables were dropped in between.
func TestCurveIsDelta(t *testing.T) {
	rng, points, step := rand.New(rand.NewPCG(3, 3)), 2, 7
	if *Long {
		points, step = 60, 1
	}
	for _, c := range []struct {
		epsilon                  float64
		sparsity, slots, clients int
	}{{1, 4, 17, 10_000}, {5, 40, 5975, 2000}, {4.4, 56, 2048, 60_000}, {2, 1, 2, 50}, {0.5, 3, 4, 1000}} {
		fine := mustBlanket(t, c.epsilon, c.sparsity, c.slots)
		for _, b := range []*Blanket{fine, fine.Coarse()} {
			curve := b.Curve(c.clients)
			atMost := mustEpsilon(t, b, c.clients, 1e-20)
			for range points {
				at := atMost * rng.Float64()
				want := mustDelta(t, b, c.clients, at)
				got, err := curve(at)
				exact := b.deltaWith(c.clients, at, &tables{budget: math.MaxInt})
				// Where each k has its own table nothing but rounding differs. Otherwise blocks begin
				// elsewhere.
				tolerance := 1e-7
				if b.coarse {
					tolerance = 3e-5
				}
				if err != nil || got < exact*(1-1e-11) || got > want*(1+tolerance) {
					t.Errorf("%+v, coarse %v: δ(%v) = %v, %v, Delta has %v", c, b.coarse, at, got, err, want)
				}
			}
		}
	}
	// Large ε want values that the first table, for a small one, does not have.
	for _, c := range []struct{ sparsity, slots, clients int }{{4, 17, 2000}, {1, 40, 500}} {
		b := mustBlanket(t, 3, c.sparsity, c.slots)
		curve := b.Curve(c.clients)
		for at := 0; at < 15; at += step {
			epsilon := 0.18 * float64(at)
			got, err := curve(epsilon)
			if want := mustDelta(t, b, c.clients, epsilon); err != nil || got < want*(1-1e-11) || got > want*(1+1e-7) {
				t.Errorf("%+v: δ(%v) = %v, %v, Delta has %v", c, epsilon, got, err, want)
			}
		}
	}
	curve := mustBlanket(t, 1, 4, 17).Curve(100)
	if got, err := curve(math.NaN()); err == nil {
		t.Errorf("NaN: got %v", got)
	}
}

// Tables that are kept stay within their limit, and each is of use again.
func TestTablesAreKeptAndDropped(t *testing.T) {
	b := mustBlanket(t, 1, 4, 17)
	kept := &tables{budget: 20_000}
	most, drops := 0, 0
	for i := range 300 {
		before := kept.entries
		b.deltaWith(3000, 0.1+float64(i)/1000, kept)
		entries := 0
		for j, table := range kept.kept {
			entries += len(table.values)
			if j > 0 && table.start <= kept.kept[j-1].start {
				t.Fatalf("tables for %d and then %d", kept.kept[j-1].start, table.start)
			}
		}
		if entries != kept.entries {
			t.Fatalf("%d entries, counted as %d", entries, kept.entries)
		}
		if kept.entries < before {
			drops++
		}
		most = max(most, entries)
	}
	if most > forgetAt*20_000 || most < 10_000 || drops > 30 {
		t.Errorf("up to %d entries, dropped %d times", most, drops)
	}
}
