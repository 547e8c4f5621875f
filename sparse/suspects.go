package sparse

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/binomial"
)

// suspects returns the coordinates with an item that more reports hit than honest clients send. An honest
// report has a slot with a probability of at most High/Total, whatever its client holds and whatever its hash function is.
// So the hits of an item in n honest reports are at most binomial.
func (m *mechanism) suspects(h hits) (out []int) {
	most := mostHits(int(h.n), float64(m.weights.High)/float64(m.weights.Total), 2*len(h.plus))
	for j, plus := range h.plus {
		if int(max(plus, h.minus[j])) > most {
			out = append(out, j)
		}
	}
	return out
}

// mostHits returns the least number that a binomial variable of n reports and probability p exceeds with a probability of at
// most fl.SuspectRate over the number of items, or one more.
func mostHits(n int, p float64, items int) int {
	const up = 1 + 0x1p-50 // p and a tail may have been rounded down
	if p *= up; p >= 1 {
		return n
	}
	level := fl.SuspectRate / float64(items)
	most := binomial.UpperQuantile(n, p, 1-p, math.Log(level)-0x1p-20)
	if most == n {
		return n
	}
	// That is by Chernoff's bound. Above most+1 the probabilities fall at least as fast as a geometric series.
	next := binomial.PMF(most+1, n, p, 1-p)
	falls := float64(n-most-1) * p / (float64(most+2) * (1 - p))
	tail := next / (1 - falls)
	for most > 0 {
		tail += binomial.PMF(most, n, p, 1-p)
		if tail*(1+0x1p-30) > level {
			break
		}
		most--
	}
	return most
}
