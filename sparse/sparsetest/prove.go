package sparsetest

import (
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
)

// Slotter is the randomizer under proof.
type Slotter interface {
	Slot(x fl.Ternary, f slothash.Func, choose exact.Chooser) uint32
}

// Case is one small domain.
type Case struct {
	Dim, Sparsity, Slots int
	Keys                 int // keys of the hash function
}

// Result is what Prove found over all hash functions.
type Result struct {
	Worst     *big.Rat // largest ratio of two inputs' probabilities of a slot
	Functions int
	Inputs    int
}

// Prove computes the exact law of the slot for every input under every hash
// function, checks that each law sums to 1 with a positive probability for
// every slot, and returns the largest ratio between two inputs.
func Prove(t *testing.T, c Case, randomizer Slotter) Result {
	t.Helper()
	inputs := Inputs(c.Dim, c.Sparsity)
	result := Result{Worst: new(big.Rat), Inputs: len(inputs)}
	one := big.NewRat(1, 1)
	Tables(c.Keys, uint32(c.Slots), func(hash Table) {
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

// CheckPrivacy proves ε-LDP of a randomizer on a small domain: no ratio is above a rational lower bound of e^ε.
// The bound is attained: two inputs can put a slot's weight at w.High and at w.Low.
func CheckPrivacy(t *testing.T, c Case, epsilon float64, w exact.Weights, randomizer Slotter) {
	t.Helper()
	r := Prove(t, c, randomizer)
	if r.Worst.Cmp(LowerExp(epsilon)) > 0 {
		t.Errorf("%+v ε=%g: worst ratio %s exceeds e^ε", c, epsilon, r.Worst.FloatString(12))
	}
	if want := new(big.Rat).SetFrac(new(big.Int).SetUint64(w.High), new(big.Int).SetUint64(w.Low)); r.Worst.Cmp(want) != 0 {
		t.Errorf("%+v ε=%g: worst ratio %s, want High/Low = %s", c, epsilon, r.Worst.FloatString(12), want.FloatString(12))
	}
	t.Logf("%+v ε=%g: %d inputs, %d hash functions, worst ratio %s", c, epsilon, r.Inputs, r.Functions, r.Worst.FloatString(9))
}

// LowerExp returns a rational lower bound of e^x, 0 ≤ x ≤ 20: the Taylor sum
// to degree 160, independent of the code under proof.
func LowerExp(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	term, sum := big.NewRat(1, 1), big.NewRat(1, 1)
	for k := int64(1); k <= 160; k++ {
		term.Mul(term, r).Mul(term, big.NewRat(1, k))
		sum.Add(sum, term)
	}
	return sum
}
