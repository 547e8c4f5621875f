package gaussian

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/clip"
	"github.com/hushgrad/hushgrad/rotation"
)

// integers turns gradients into vectors of integers of bounded norm, and sums of them back. It is immutable and safe for
// concurrent use.
type integers struct {
	rotation *rotation.Rotation
	clip     float64 // C
	units    float64 // K, for C
	most     int64   // B², the largest squared norm
	widest   float64 // the largest absolute value of an integer
}

// grid says how gradients are rounded to integers.
type grid struct {
	fineness float64 // K/√d': more units have less rounding and more bits
	slack    float64 // of B², in the unit of Kairouz et al. (2021) for β = e^-½: more has fewer roundings drawn again
	widest   float64 // the largest absolute value of an integer
}

// fine is the grid where integers may be large. Few of its roundings are drawn again, or their squared norms would differ by a
// thousandth.
var fine = grid{fineness: 16, slack: 1, widest: math.Inf(1)}

func newIntegers(r fl.Round, g grid) (*integers, error) {
	key, err := r.PublicKey("hdsum/signs")
	if err != nil {
		return nil, err
	}
	n := &integers{clip: r.Scale, widest: g.widest}
	if n.rotation, err = rotation.New(r.Dim, key); err != nil {
		return nil, err
	}
	d := float64(n.rotation.PaddedDim())
	n.units = math.Ceil(g.fineness * math.Sqrt(d))
	most := n.units*n.units + d/4 + g.slack*(n.units+math.Sqrt(d)/2)
	widest := min(n.units, g.widest) // K is whole: no rounding of a number in [−K, K] leaves it
	n.most = int64(min(most, d*widest*widest))
	return n, nil
}

// sensitivity bounds how far two neighbours' vectors are apart.
func (n *integers) sensitivity(relation fl.Relation) float64 {
	b := math.Nextafter(math.Sqrt(float64(n.most)), math.Inf(1))
	if relation == fl.ReplaceOne {
		b *= 2
	}
	return b
}

// unit is what 1 stands for, in an unnormalised rotated coordinate.
func (n *integers) unit() float64 {
	return n.clip / n.units * math.Sqrt(float64(n.rotation.PaddedDim()))
}

// of returns the integers of a gradient of Dim finite numbers, of squared norm at most B². The error is a
// *fl.ParamError. O(d' log d'), expected.
func (n *integers) of(grad []float64, rng *rand.Rand) ([]int64, error) {
	out := make([]int64, n.rotation.PaddedDim())
	if err := n.into(out, make([]float64, len(out)), grad, rng); err != nil {
		return nil, err
	}
	return out, nil
}

// into is of, into a slice, with memory for the rotated gradient, both of length d'.
func (n *integers) into(out []int64, y, grad []float64, rng *rand.Rand) error {
	measured, err := clip.Measure(grad, n.rotation.Dim(), 2, n.clip)
	if err == nil {
		err = n.rotation.Forward(y, measured.Short)
	}
	if err != nil {
		return err
	}
	scale := measured.Factor(n.clip) / n.unit()
	for {
		squares := 0.
		for i, v := range y {
			v *= scale
			if v > n.widest {
				v = n.widest
			} else if v < -n.widest {
				v = -n.widest
			}
			// The integer above v with the probability of v's distance from the one below, without a branch that nobody can predict.
			x := math.Ceil(v - rng.Float64())
			out[i] = int64(x)
			squares += x * x
		}
		// Sums of squares of integers below 2^53 are exact.
		if squares <= float64(n.most) {
			return nil
		}
	}
}

// back turns a sum of vectors into the sum of their gradients. O(d' log d').
func (n *integers) back(sum []float64) ([]float64, error) {
	grad := make([]float64, n.rotation.Dim())
	if err := n.rotation.Inverse(grad, sum); err != nil {
		return nil, err
	}
	unit := n.unit()
	for i := range grad {
		grad[i] *= unit
	}
	return grad, nil
}

// deviation is the standard deviation of a coordinate of a gradient whose integers all have the given variance.
func (n *integers) deviation(variance float64) float64 { return n.clip / n.units * math.Sqrt(variance) }
