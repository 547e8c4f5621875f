package liar

import (
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/mechanisms"
)

const dim = 40

func complete(t *testing.T, r fl.Round) (fl.Round, fl.Mechanism) {
	t.Helper()
	r.ID, r.Dim, r.Scale, r.Relation, r.PublicSeed = "r", dim, 1, fl.ReplaceOne, [32]byte{4}
	r, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// movedBy returns how far reports of liars alone move a coordinate of the mean down, in standard errors of an honest mean.
func movedBy(t *testing.T, m fl.Mechanism, report []byte, reports int) float64 {
	t.Helper()
	a := m.NewAggregator()
	for range reports {
		if err := a.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return -e.Mean().Value[3]
}

// One report, sent by all, moves the mean at its coordinate further than any honest clients could, and every mechanism counts it.
func TestCraftedReportsMoveTheMean(t *testing.T) {
	direction := make([]float64, dim)
	direction[3] = -1
	for name, r := range map[string]fl.Round{
		"coco":      {Mechanism: "coco", Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(1)}},
		"collision": {Mechanism: "collision", Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(1)}},
		"privunit":  {Mechanism: "privunit", Epsilon: 4},
	} {
		r.MinReports = 50
		r, m := complete(t, r)
		report, err := Craft(r, direction, Tries, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if moved := movedBy(t, m, report, 50); moved < 1 {
			t.Errorf("%s: moved by %.2f, and honest clients move it by 1 at most", name, moved)
		}
	}
}

// Liars whose seeds are assigned move a dense mean less far than one who searches, and a slot as far as before: it is one hit.
func TestAssignedSeedsLeaveLiarsLess(t *testing.T) {
	const seeds = 40
	direction := make([]float64, dim)
	direction[3] = -1
	for name, c := range map[string]struct {
		round     fl.Round
		low, high float64 // of the ratio
	}{
		"coco":     {fl.Round{Mechanism: "coco", Epsilon: 1, Params: fl.Params{"sparsity": fl.Int(1)}}, 1, 1},
		"privunit": {fl.Round{Mechanism: "privunit", Epsilon: 4}, 0.5, 0.75}, // of 2.8 and 4.3 standard deviations
	} {
		c.round.MinReports = 1
		r, m := complete(t, c.round)
		searched, err := Craft(r, direction, Tries, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.
		for seed := range uint32(seeds) {
			report, err := CraftAssigned(r, seed, direction, rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := m.(fl.SeededMechanism).SeedOf(report); err != nil || got != seed {
				t.Fatalf("%s: the seed %d, %v, want %d", name, got, err, seed)
			}
			mean += movedBy(t, m, report, 1) / seeds
		}
		ratio := mean / movedBy(t, m, searched, 1)
		t.Logf("%s: assigned seeds leave %.3f", name, ratio)
		if ratio < c.low-1e-9 || ratio > c.high+1e-9 {
			t.Errorf("%s: %.3f times as far as after a search, want %g to %g", name, ratio, c.low, c.high)
		}
	}
}

// A report that the liar's own code of Prio3 has made passes the servers' check, and is as long as a proof allows. A second
// implementation of docs/report-format.md makes it.
func TestTheLongestProvedReportCounts(t *testing.T) {
	r, m := complete(t, fl.Round{
		Mechanism: hdsum.SharesName, Epsilon: 8, Delta: 1e-6, MinReports: 400, Params: fl.Params{hdsum.ParamProof: fl.Text(hdsum.ProofPrio3)},
	})
	direction := make([]float64, dim)
	direction[3] = -1
	rng := rand.New(rand.NewPCG(3, 4))
	report, err := Craft(r, direction, 1, rng)
	if err != nil {
		t.Fatal(err)
	}
	p, key := m.(fl.ProvedMechanism), &fl.VerifyKey{1}
	first, second := report[:p.ShareBytes(fl.FirstServer)], report[p.ShareBytes(fl.FirstServer):]
	prepared, err := p.AppendPrepShare(nil, key, second)
	if err == nil {
		err = p.CheckShare(key, first, prepared)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The signs of a rotated unit vector are all of it: the sum goes along the direction alone, by 15/16 to 16/16 of the norm. Noise is
	// below 1 % of that.
	if moved, most := movedBy(t, m, report, 400), p.Sway(); moved < 0.9*most || moved > 1.03*most {
		t.Errorf("moved by %.3f, want nearly %.3f", moved, most)
	}
}

// Without proofs one report ruins the sum.
func TestOneSharedReportRuinsTheSum(t *testing.T) {
	r, m := complete(t, fl.Round{Mechanism: hdsum.SharesName, Epsilon: 8, Delta: 1e-6, MinReports: 4})
	report, err := Craft(r, make([]float64, dim), 1, rand.New(rand.NewPCG(5, 6)))
	if err != nil {
		t.Fatal(err)
	}
	a := m.NewAggregator()
	for i := range 4 {
		sent := report
		if i > 0 {
			if sent, err = m.Encode(nil, make([]float64, dim), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Add(sent); err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	length := 0.
	for _, v := range e.Mean().Value {
		length += v * v
	}
	if length < 100*e.NoiseNorm*e.NoiseNorm {
		t.Errorf("the mean of zeros has length² %.3g, and its noise %.3g", length, e.NoiseNorm*e.NoiseNorm)
	}
}
