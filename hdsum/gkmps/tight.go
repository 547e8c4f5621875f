package gkmps

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
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
