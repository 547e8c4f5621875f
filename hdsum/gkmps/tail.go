package gkmps

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/sample"
)

// leastFlood returns the law NB(r, e^{−aη}) of the smallest mean that hides shifts
// up to D at a loss of η per unit: for 0 <= k <= D and Z of that law, Z and Z+k are
// (kη, δ)-indistinguishable. For small ηD its mean is about 4.6·ln(1/δ)/η. The search
// over a is golden section to 1e-3; whatever it finds is private.
func leastFlood(eta float64, shift int64, logDelta float64) sample.NegativeBinomial {
	const ratio = math.Phi - 1
	at := func(a float64) sample.NegativeBinomial { return leastShape(a*eta, eta, shift, logDelta) }
	lo, hi := 0.05, 1.0
	x, y := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	left, right := at(x), at(y)
	for hi-lo > 1e-3 {
		if left.Mean() < right.Mean() {
			hi, y, right = y, x, left
			x = hi - ratio*(hi-lo)
			left = at(x)
		} else {
			lo, x, left = x, y, right
			y = lo + ratio*(hi-lo)
			right = at(y)
		}
	}
	return left
}

// solver is leastFlood for many η and one δ. The best a depends so little on η
// that atoms of one shift share it while η grows by less than a tenth.
type solver struct {
	logDelta float64
	decays   map[int64]decay // by shift
}

type decay struct{ eta, a float64 }

func (s solver) flood(eta float64, shift int64) sample.NegativeBinomial {
	if known, ok := s.decays[shift]; ok && math.Abs(eta-known.eta) <= 0.1*known.eta {
		return leastShape(known.a*eta, eta, shift, s.logDelta)
	}
	law := leastFlood(eta, shift, s.logDelta)
	s.decays[shift] = decay{eta: eta, a: law.Eta / eta}
	return law
}

// leastShape bisects for the least r > 1 with which NB(r, e^{−decay}), decay <= η, hides the
// shift, to a relative 1e-5. What it returns has passed hides.
func leastShape(decay, eta float64, shift int64, logDelta float64) sample.NegativeBinomial {
	d := sample.NegativeBinomial{R: 2, Eta: decay}
	lo := 1.0
	for !hides(d, eta, shift, logDelta) {
		lo, d.R = d.R, 2*d.R
	}
	for d.R-lo > 1e-5*lo {
		mid := sample.NegativeBinomial{R: (lo + d.R) / 2, Eta: d.Eta}
		if hides(mid, eta, shift, logDelta) {
			d = mid
		} else {
			lo = mid.R
		}
	}
	return d
}

// hides tells whether P[Z < k*] <= δ, with which Z and Z+k are (kη, δ)-
// indistinguishable for 0 <= k <= D (package comment). It needs r > 1 and
// decay <= η. Left of the mode consecutive probabilities have a ratio
//
//	P[Z = z−1]/P[Z = z] = z/((z−1+r)p),
//
// which grows with z, so a geometric series bounds the tail. In the tail that is
// needed it is a few per cent above the sum.
func hides(d sample.NegativeBinomial, eta float64, shift int64, logDelta float64) bool {
	// k* is rounded up; the comparison with δ' leaves room for the rounding of LogProb.
	threshold := float64(shift-1) + (d.R-1)/math.Expm1(d.Eta+eta)*(1+0x1p-40)
	last := max(int64(math.Ceil(threshold)), shift) - 1 // the largest z below k*
	z := float64(last)
	ratio := z / (z - 1 + d.R) * math.Exp(d.Eta)
	if last == 0 {
		ratio = 0
	}
	if ratio >= 1 {
		return false
	}
	tail := d.LogProb(last) - math.Log1p(-ratio)
	return tail+1e-9*math.Abs(tail) <= logDelta
}
