package compose_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

// One round must give the blanket's own curve, and 1000 rounds a small error. A thousand
// rounds cost less than the optimal composition of what one round says at one δ.
func TestShuffled(t *testing.T) {
	cases := []struct {
		epsilon                float64
		sparsity, slots, users int
	}{{5, 40, 5975, 2000}, {1, 4, 17, 10_000}}
	if testing.Short() {
		cases = cases[:1]
	}
	for _, c := range cases {
		blanket := must[*privacy.Blanket](t)(privacy.NewBlanket(c.epsilon, c.sparsity, c.slots))
		round := must[*compose.Distribution](t)(compose.Shuffled(c.epsilon, c.sparsity, c.slots, c.users, compose.Options{}))
		for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
			b := must[compose.Bounds](t)(round.Epsilon(delta))
			atUpper := must[float64](t)(blanket.Delta(c.users, b.Upper))
			atLower := must[float64](t)(blanket.Delta(c.users, b.Lower))
			// The blanket's own sums are rounded up by varying amounts, 10^-5 and less.
			if atUpper > delta*(1+1e-5) || atLower < delta*(1-1e-5) || b.Error() > 1e-4 {
				t.Errorf("%+v: %+v, with δ from %v to %v", c, b, atLower, atUpper)
			}
		}
		all := must[*compose.Distribution](t)(round.Compose(1000))
		b := must[compose.Bounds](t)(all.Epsilon(1e-6))
		if b.Error() > 1e-3 {
			t.Errorf("%+v: error %v", c, b.Error())
		}
		const each = 5e-10
		at := must[float64](t)(blanket.Epsilon(c.users, each))
		general := must[float64](t)(compose.Homogeneous{Epsilon: at, Delta: each, Count: 1000}.EpsilonAt(1e-6))
		if !(b.Upper < general && b.Lower > at) {
			t.Errorf("%+v: %+v, want between one round's %v and %v", c, b, at, general)
		}
	}
}

// A curve given as a function is the mechanism it came from.
func TestFromCurve(t *testing.T) {
	curve := func(epsilon float64) (float64, error) { return max(0, gaussianDelta(epsilon, 3)), nil }
	d := must[*compose.Distribution](t)(compose.FromCurve(curve, 3, compose.Options{Tail: 1e-15}))
	named := must[*compose.Distribution](t)(compose.Gaussian(3, compose.Options{}))
	for _, k := range []int{1, 20} {
		a := must[compose.Bounds](t)(must[*compose.Distribution](t)(d.Compose(k)).Epsilon(1e-6))
		b := must[compose.Bounds](t)(must[*compose.Distribution](t)(named.Compose(k)).Epsilon(1e-6))
		if a.Lower > b.Upper || b.Lower > a.Upper || a.Error() > 1e-4 {
			t.Errorf("k=%d: %+v and %+v", k, a, b)
		}
	}
	// A curve that is cut off at maxEpsilon has infinite losses there.
	short := must[*compose.Distribution](t)(compose.FromCurve(curve, 1, compose.Options{}))
	if got, want := short.Infinite(), gaussianDelta(1, 3); got < want*(1-1e-12) || got > want*(1+1e-9) {
		t.Errorf("infinite mass %v, want %v", got, want)
	}
}
