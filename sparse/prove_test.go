package sparse_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/bigref"
	"github.com/hushgrad/hushgrad/sparse"
)

// domain is one small domain.
type domain struct {
	Dim, Sparsity, Slots int
	Keys                 int // keys of the hash function
}

// proof is what prove found over all hash functions.
type proof struct {
	Worst     *big.Rat // largest ratio of two inputs' probabilities of a slot
	Functions int
	Inputs    int
}

// prove computes the exact law of the slot for every input under every hash
// function, checks that each law sums to 1 with a positive probability for
// every slot, and returns the largest ratio between two inputs.
func prove(t *testing.T, c domain, randomizer sparse.Sampler) proof {
	t.Helper()
	inputs := allInputs(c.Dim, c.Sparsity)
	result := proof{Worst: new(big.Rat), Inputs: len(inputs)}
	one := big.NewRat(1, 1)
	tables(c.Keys, uint32(c.Slots), func(hash table) {
		result.Functions++
		low, high := make([]*big.Rat, c.Slots), make([]*big.Rat, c.Slots)
		for _, x := range inputs {
			law, err := exact.Enumerate(64, func(choose exact.Chooser) (uint32, error) {
				return randomizer.Slot(x, hash, choose), nil
			})
			if err != nil {
				t.Fatalf("hash %v, input %+v: %v", hash, x, err)
			}
			sum := new(big.Rat)
			for slot := range uint32(c.Slots) {
				p := law[slot]
				if p == nil || p.Sign() <= 0 {
					t.Fatalf("hash %v, input %+v: slot %d has probability %v", hash, x, slot, p)
				}
				sum.Add(sum, p)
				if low[slot] == nil || p.Cmp(low[slot]) < 0 {
					low[slot] = p
				}
				if high[slot] == nil || p.Cmp(high[slot]) > 0 {
					high[slot] = p
				}
			}
			if sum.Cmp(one) != 0 || len(law) != c.Slots {
				t.Fatalf("hash %v, input %+v: %d slots with total probability %v", hash, x, len(law), sum)
			}
		}
		for slot := range c.Slots {
			if ratio := new(big.Rat).Quo(high[slot], low[slot]); ratio.Cmp(result.Worst) > 0 {
				result.Worst = ratio
			}
		}
	})
	return result
}

// checkPrivacy proves ε-LDP of a randomizer on a small domain: no ratio is above a rational lower bound of e^ε.
// The bound is attained: two inputs can put a slot's weight at w.High and at w.Low.
func checkPrivacy(t *testing.T, c domain, epsilon float64, w exact.Weights, randomizer sparse.Sampler) {
	t.Helper()
	r := prove(t, c, randomizer)
	if r.Worst.Cmp(bigref.LowerExp(epsilon)) > 0 {
		t.Errorf("%+v ε=%g: worst ratio %s exceeds e^ε", c, epsilon, r.Worst.FloatString(12))
	}
	if want := new(big.Rat).SetFrac(new(big.Int).SetUint64(w.High), new(big.Int).SetUint64(w.Low)); r.Worst.Cmp(want) != 0 {
		t.Errorf("%+v ε=%g: worst ratio %s, want High/Low = %s", c, epsilon, r.Worst.FloatString(12), want.FloatString(12))
	}
	t.Logf("%+v: %d inputs, %d hash functions, the largest ratio of two probabilities is %s, and e^%g is %.9f", c, r.Inputs, r.Functions, r.Worst.FloatString(9), epsilon, math.Exp(epsilon))
}

// checkCalibration compares the hit probabilities that a scheme states at a point, with the ideal hash family, with
// its randomizer's hit probabilities: over all hash functions and all random choices. The client holds the
// coordinates 0 … s−1 with alternating signs. The last coordinate, s = p.Dim − 1, is not the client's.
func checkCalibration(t *testing.T, scheme *sparse.Scheme, layout sparse.Layout, p sparse.Point, randomizer sparse.Sampler) {
	t.Helper()
	p.Hash = sparse.HashIdeal
	stated, err := scheme.Calibration(p)
	if err != nil {
		t.Fatal(err)
	}
	x := input(p.Dim, p.Sparsity, 0)
	sums := map[string]*big.Rat{}
	hit := func(what string, p *big.Rat) {
		if sums[what] == nil {
			sums[what] = new(big.Rat)
		}
		sums[what].Add(sums[what], p)
	}
	functions := int64(0)
	tables(layout.Keys(p.Dim, 0), uint32(p.Slots), func(hash table) {
		functions++
		law, err := exact.Enumerate(64, func(choose exact.Chooser) (uint32, error) { return randomizer.Slot(x, hash, choose), nil })
		if err != nil {
			t.Fatalf("hash %v: %v", hash, err)
		}
		for j := range uint32(p.Dim) {
			where, sign := "out", int8(1)
			if int(j) < p.Sparsity {
				where, sign = "in", x.Sign[j]
			}
			own, opposite := layout.Item(hash, j, sign), layout.Item(hash, j, -sign)
			hit(where+": own", law[own])
			hit(where+": opposite", law[opposite])
			if own == opposite {
				hit(where+": both", law[own])
			}
		}
	})
	for what, v := range map[string]struct {
		stated      float64
		coordinates int
	}{
		"in: own": {stated.In.Own, p.Sparsity}, "in: opposite": {stated.In.Opposite, p.Sparsity}, "in: both": {stated.In.Both, p.Sparsity},
		"out: own": {stated.Out.Own, 1}, "out: opposite": {stated.Out.Opposite, 1}, "out: both": {stated.Out.Both, 1},
	} {
		got := 0.0
		if sums[what] != nil {
			got, _ = sums[what].Quo(sums[what], big.NewRat(functions*int64(v.coordinates), 1)).Float64()
		}
		// The weights are integers whose ratio is less than 2^−24 of itself below e^ε.
		if math.Abs(got-v.stated) > 1e-6*got {
			t.Errorf("%+v, %s: hit with probability %.9g, stated is %.9g", p, what, got, v.stated)
		}
	}
}
