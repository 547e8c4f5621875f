package keyvalue

import (
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl/exact"
)

// Lengths of PCKV-UE, over all random choices: they depend on whether a pair is sent, by a factor of at
// most e^ε. All reports of PCKV-GRR have one length.
func TestLengthsAreCoveredByTheGuarantee(t *testing.T) {
	const dim, padding = 2, 1
	lengths := func(r pckvRandomizer, sent signedKey) map[int]*big.Rat {
		law, err := exact.Enumerate(64, func(choose exact.Chooser) (int, error) { return len(r.perturb(nil, sent, choose)), nil })
		if err != nil {
			t.Fatal(err)
		}
		return law
	}
	for _, name := range names {
		r, _ := build(t, name, 2, dim, padding)
		with, without := lengths(r, signedKey{0, false}), lengths(r, signedKey{dim, false})
		if name != PCKVUE {
			if len(with) != 1 || len(without) != 1 {
				t.Errorf("%s: lengths %v and %v, want one", name, with, without)
			}
			continue
		}
		// Empty: (1/2)·(h+w)/(h+3w) with a pair, and the square of the second factor without.
		if with[0].Cmp(without[0]) >= 0 {
			t.Errorf("a report is empty with probability %v with a pair and %v without", with[0], without[0])
		}
		for n := range dim + 1 {
			ratio, _ := new(big.Rat).Quo(with[n], without[n]).Float64()
			if ratio > 7.389056099 || ratio < 1/7.389056099 {
				t.Errorf("length %d: ratio %v, above e^2", n, ratio)
			}
		}
	}
}
