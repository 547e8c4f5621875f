package verify_test

import (
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
	r.Mechanism = "sumdp-shares"
	return r
}

// Each audit accuses a correct mechanism with probability at most 1e-6.
func TestCorrectMechanismsAreNotAccused(t *testing.T) {
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
		if testing.Short() {
			c.samples = 100
		}
		report := check(t, c.round, verify.Options{Samples: c.samples})
		if !report.Holds || report.Method != verify.Statistical || report.Inputs != c.inputs || report.Samples != c.samples || report.Worst == nil {
			t.Errorf("%+v", report)
		}
		t.Logf("%s: ε >= %.3g of %g, %+v", report.Mechanism, report.EpsilonFound, report.EpsilonPromised, *report.Worst)
	}
}
