package privunit

import (
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The best report of many seeds moves a coordinate by less than Sway says, and by more than a third of it.
func TestNoSeedMovesTheSumByMoreThanSway(t *testing.T) {
	r, opened, err := fl.Complete(fl.Round{
		ID: "r", Mechanism: Name, Dim: 60, Scale: 2, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{3},
	})
	if err != nil {
		t.Fatal(err)
	}
	grad, rng, most := make([]float64, r.Dim), rand.New(rand.NewPCG(1, 2)), 0.
	grad[7] = 2
	for range 3000 {
		report, err := opened.Encode(nil, grad, rng)
		if err != nil {
			t.Fatal(err)
		}
		a := opened.NewAggregator()
		if err := a.Add(report); err != nil {
			t.Fatal(err)
		}
		e, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, e.Mean().Value[7])
	}
	if sway := opened.(fl.Swayer).Sway(); most > sway || most < sway/3 {
		t.Errorf("a report moves the sum by %.2f, want below %.2f and not far", most, sway)
	}
}
