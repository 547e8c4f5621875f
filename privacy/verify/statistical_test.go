package verify_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

// sumRound is a round of the shuffle model for a few clients.
func sumRound(clients int) fl.Round {
	return fl.Round{
		ID: "s", Mechanism: "sumdp", Dim: 2, Scale: 1, Epsilon: 1, Delta: 1e-3, Relation: fl.ReplaceOne,
		MinReports: clients, PublicSeed: [32]byte{1},
	}
}

// shareRound is sumRound by two servers.
func shareRound(clients int) fl.Round {
	r := sumRound(clients)
	r.Mechanism = "gaussian-shares"
	return r
}

// Each audit accuses a correct mechanism with probability at most 1e-6.
func TestCorrectMechanismsAreNotAccused(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for _, c := range []struct {
		round   fl.Round
		samples int
		inputs  int
	}{
		{round("coco", 64, 8, 0, "", 2), 1000, 8},
		{round("collision", 64, 8, 0, "", 2), 1000, 8},
		{round("signsketch", 64, 8, 0, "", 2), 200, 8},
		{sumRound(3), 600, 5},
		{shareRound(3), 2000, 5},
		{round("coco", 2000, 20, 0, "", 5), 100, 8},
	} {
		report := check(t, c.round, verify.Options{Samples: c.samples})
		if !report.Holds || report.Method != verify.Statistical || report.Inputs != c.inputs || report.Samples != c.samples || report.Worst == nil {
			t.Errorf("%+v", report)
		}
		t.Logf("%s: ε >= %.3g of %g, %+v", report.Mechanism, report.EpsilonFound, report.EpsilonPromised, *report.Worst)
	}
}

// counted counts what its clients encode: all gradients, and those that are not zero.
type counted struct {
	fl.Mechanism
	all, own *atomic.Int64
}

func (c counted) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if !slices.ContainsFunc(grad, func(g float64) bool { return math.IsNaN(g) || math.IsInf(g, 0) }) {
		c.all.Add(1)
		if slices.ContainsFunc(grad, func(g float64) bool { return g != 0 }) {
			c.own.Add(1)
		}
	}
	return c.Mechanism.Encode(dst, grad, rng)
}

// The rounds that are compared in the shuffle model are neighbours: one client has a gradient, and the others
// have zero. Four of the five gradients are not zero.
func TestOneClientOfARoundDiffers(t *testing.T) {
	const clients, samples = 3, 100
	r, m, err := fl.Complete(sumRound(clients))
	if err != nil {
		t.Fatal(err)
	}
	c := counted{m, new(atomic.Int64), new(atomic.Int64)}
	if _, err := verify.Mechanism(t.Context(), c, r, verify.Options{Samples: samples, Rand: seeded()}); err != nil {
		t.Fatal(err)
	}
	if all, own := c.all.Load(), c.own.Load(); all != 5*clients*samples || own != 4*samples {
		t.Errorf("%d gradients encoded, %d not zero, want %d and %d", all, own, 5*clients*samples, 4*samples)
	}
}
