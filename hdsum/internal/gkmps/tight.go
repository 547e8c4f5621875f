package gkmps

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// reach describes the columns of C for the inputs {0..U}, where c_0 = 0.
type reach struct {
	norm   int64           // Γ* = max_x Σ_s |C_{s,x}|·|s|
	terms  int             // the most atoms in one column
	spread map[int64]int64 // by atom: the largest difference of two entries of its row
}

// reachOf looks at all columns. O(U log U).
func reachOf(bound int64) reach {
	var entries []term
	r := reach{spread: make(map[int64]int64)}
	least := make(map[int64]int64)
	for x := int64(1); x <= bound; x++ {
		entries = column(entries[:0], x)
		var norm int64
		for _, e := range entries {
			norm += magnitude(e.atom) * magnitude(e.count)
			r.spread[e.atom] = max(r.spread[e.atom], e.count)
			least[e.atom] = min(least[e.atom], e.count)
		}
		r.norm, r.terms = max(r.norm, norm), max(r.terms, len(entries))
	}
	for atom, count := range least {
		r.spread[atom] -= count
	}
	return r
}

// tightFloods returns D-hat and D-tilde from exact tails (package comment). An
// atom s of D-tilde gets the loss η_s = ε2|s|/(2Γ*) per unit of shift and the
// failure probability δ2/T, T the most entries in which two columns can differ;
// under ZeroOut the 2 is left out and T the most in one column. O(U log U).
func tightFloods(relation fl.Relation, bound int64, s spending) []Flood {
	list := usedAtoms(bound)
	floods := newFloods(bound, list)
	if bound == 1 {
		hat, _ := s.split(bound, 1)
		floods[0].Total = leastFlood(hat.eps, 1, hat.logDelta)
		return floods
	}
	r := reachOf(bound)
	norm := changed(relation) * float64(r.norm)
	touched := math.Log(min(changed(relation)*float64(r.terms), float64(len(list)))) // ln T

	// A flood's mean is nearly proportional to ln(1/δ)/η. With c/ε1 + d/ε2 messages
	// in all, the least for a given ε1+ε2 has ε1:ε2 = √c:√d.
	logDelta := s.logDelta - math.Ln2
	c, d := 2*float64(bound)*-logDelta, 0.0
	for k, i := range list {
		d += float64(len(floods[k+1].Messages)) / float64(magnitude(i)) * norm * (touched - logDelta)
	}
	hat, tilde := s.split(bound, 1/(1+math.Sqrt(d/c)))
	floods[0].Total = leastFlood(hat.eps/float64(bound), bound, hat.logDelta)
	solver := solver{logDelta: tilde.logDelta - touched, decays: make(map[int64]decay)}
	for k, i := range list {
		floods[k+1].Total = solver.flood(tilde.eps*float64(magnitude(i))/norm, r.spread[i])
	}
	return floods
}

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

// hides reports whether P[Z < k*] <= δ, with which Z and Z+k are (kη, δ)-
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
