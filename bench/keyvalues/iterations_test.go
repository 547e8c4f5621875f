package keyvalues

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// One round pulls the means to 0, and four more take most of that away: for the key that 80 % of the
// clients hold nearly all. At ε = 4 the signs of five rounds have 0.4 each: a standard error of
// 1/(0.197·√500 000) = 0.007, and of at most twice that with what rounds before have left. 6 of them
// are exceeded with probability 2e-9.
func TestRealRoundsTakeTheBiasAway(t *testing.T) {
	p := &singles{holders: []int{800_000, 200_000}, mean: []float64{0.8, -0.8}, size: 1_000_000}
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	_, one, err := privkvmOne.estimates(p, 2, 1, 4, rng)
	if err != nil {
		t.Fatal(err)
	}
	_, five, err := privkvmReal.estimates(p, 2, 1, 4, rng)
	if err != nil {
		t.Fatal(err)
	}
	truth := math.Exp(2) // over a lie, of a key
	for k, f := range []float64{0.8, 0.2} {
		w := f * truth / (f*truth + 1 - f) // the share of the holders among the signs of the first round
		if want := w * p.mean[k]; math.Abs(one[k]-want) > 0.09 {
			t.Errorf("key %d, one round: %g, want %g", k, one[k], want)
		}
		if want := (1 - (1-w)*math.Pow(1-f, 4)) * p.mean[k]; math.Abs(five[k]-want) > 0.09 {
			t.Errorf("key %d, five rounds: %g, want %g", k, five[k], want)
		}
	}
}

// asked counts how often clients are asked.
type asked struct {
	*singles
	times int
}

func (a *asked) ask(rng *rand.Rand) (plus, minus, absent []int) {
	a.times++
	return a.singles.ask(rng)
}

// The clients report once in every round.
func TestRealRoundsAreCounted(t *testing.T) {
	for r, want := range map[*rival]int{&privkvmOne: 1, &privkvmVirtual: 1, &privkvmReal: 5} {
		a := &asked{singles: &singles{holders: []int{5, 5}, mean: []float64{1, 0}, size: 10}}
		if _, _, err := r.estimates(a, 2, 1, 4, rand.New(rand.NewChaCha8([32]byte{7}))); err != nil || a.times != want {
			t.Errorf("%s: %d reports of a client, want %d, %v", r.label, a.times, want, err)
		}
	}
}

// A first round that is not PrivKVM's has no later ones.
func TestOnlyPrivKVMIsIterated(t *testing.T) {
	r := fl.Round{Mechanism: kvue.mechanism}
	if _, err := iterate(r, nil, nil, nil); err == nil {
		t.Error("KVUE is iterated")
	}
}
