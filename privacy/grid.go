package privacy

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// ulp is the unit roundoff of float64.
	ulp = 0x1p-53

	// onGrid is how far, in steps, a loss may be from a grid point and still count as
	// lying on it; see sums.shift.
	onGrid = 1e-10
)

// A masses value is the law of the loss of one mechanism under the first of its two output
// laws: mass[i] at (i − k)·step, with k = len(mass)/2, and infinite at +∞.
type masses struct {
	mass     []float64
	infinite float64
}

// spread moves the mass of each atom, with positive losses, to the two grid points around
// it so that its mass under both laws stays, which raises the curve to its chords: the
// least dominating discretisation of Doroshenko et al., Section 3. Cost: O(atoms + grid).
func spread(atoms []atom, infinite, step float64) masses {
	if len(atoms) == 0 {
		return symmetric(nil, infinite, step, 1)
	}
	positive := make([]float64, int(math.Ceil(atoms[len(atoms)-1].loss/step-onGrid))+1)
	for _, a := range atoms {
		k := math.Floor(a.loss/step + onGrid)
		if a.loss/step-k <= onGrid {
			positive[int(k)] += a.mass
			continue
		}
		up := math.Expm1(k*step-a.loss)/math.Expm1(-step) + 8*ulp*(1+a.loss/step)
		up = math.Max(0, math.Min(1, up))
		positive[int(k)] += a.mass * (1 - up)
		positive[int(k)+1] += a.mass * up
	}
	return symmetric(positive, infinite, step, 1)
}

// merge collects neighbouring atoms, with increasing positive losses, into groups whose
// common loss, the log-ratio of their masses under the two laws, is a grid point. An atom
// on the border is divided. Merging outcomes is post-processing, so the curve can
// only fall. The last group, if it ends too low, is cut down to the grid point below.
// Cost: O(atoms + grid).
func merge(atoms []atom, infinite, step float64) masses {
	if len(atoms) == 0 {
		return symmetric(nil, infinite, step, -1)
	}
	positive := make([]float64, int(math.Ceil(atoms[len(atoms)-1].loss/step-onGrid))+1)
	var target, mass, second, balance float64 // of the open group; open if mass > 0
	for _, a := range atoms {
		if a.loss <= step/2 {
			continue // merged with its mirror image
		}
		for a.mass > 0 {
			if mass == 0 {
				target = math.Ceil(a.loss/step - onGrid)
			}
			excess := a.mass * -math.Expm1(target*step-a.loss)
			if mass == 0 && excess >= -onGrid*step*a.mass {
				positive[int(target)] += a.mass
				break
			}
			if balance+excess < 0 {
				mass, balance = mass+a.mass, balance+excess
				second += a.mass * math.Exp((target-1)*step-a.loss)
				break
			}
			part := -balance / excess
			positive[int(target)] += mass + a.mass*part
			a.mass *= 1 - part
			mass, second, balance = 0, 0, 0
		}
	}
	if mass > 0 {
		positive[int(target)-1] += second
	}
	return symmetric(positive, infinite, step, -1)
}

// symmetric completes the law: −k·step has the mass that k·step has under the second law,
// and 0 has what is left, off by at most the rounding in the given direction.
func symmetric(positive []float64, infinite, step float64, direction float64) masses {
	k := max(len(positive)-1, 0)
	for k > 0 && positive[k] == 0 {
		k--
	}
	mass := make([]float64, 2*k+1)
	for i := 1; i <= k; i++ {
		mass[k+i], mass[k-i] = positive[i], positive[i]*math.Exp(-float64(i)*step)
	}
	rest := 1 - infinite - floats.SumCompensated(mass)
	mass[k] = math.Max(0, rest+direction*8*ulp)
	return masses{mass, infinite}
}
