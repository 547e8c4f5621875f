package gkmps

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// lambda is the part of ε that is spent on hiding which messages are noise; the
// rest goes into the error. The paper leaves it open.
const lambda = 0.1

// spending divides (ε, δ) between the central noise, which needs no δ, and the
// floods.
type spending struct {
	central  float64 // ε* = (1−λ)ε
	flood    float64 // λε for D-hat and D-tilde together
	logDelta float64 // ln δ for both
}

func newSpending(eps, delta float64) spending {
	eps *= 1 - 0x1p-46 // covers the rounding of all that follows
	return spending{
		central:  (1 - lambda) * eps,
		flood:    lambda * eps,
		logDelta: math.Log(delta) - 0x1p-40,
	}
}

// A part is what one of the two floods may spend.
type part struct {
	eps      float64
	logDelta float64 // ln δ
}

// split gives D-hat a share of ε and half of δ and D-tilde the rest. For U = 1
// there is no D-tilde, and D-hat gets all.
func (s spending) split(bound int64, share float64) (hat, tilde part) {
	if bound == 1 {
		return part{eps: s.flood, logDelta: s.logDelta}, part{}
	}
	half := s.logDelta - math.Ln2
	return part{eps: share * s.flood, logDelta: half}, part{eps: (1 - share) * s.flood, logDelta: half}
}

// publishedFloods returns D-hat and D-tilde with the constants of Theorem 2 of
// the paper: for ε1 = ε2 = min(1, λε)/2 and δ1 = δ2 = δ/2,
// NB(3(1+ln(1/δ1)), e^{−0.2ε1/U}) copies of {+1, −1}, and for every atom s
// NB(3(1+ln((2U−1)/δ2)), e^{−0.2ε2/(2t_s)}) copies of it, t_s = ⌈Γ/|s|⌉. Under
// ZeroOut one column of C changes instead of two, and the 2 is left out. O(U).
func publishedFloods(c Config, bound int64, s spending) []Flood {
	s.flood = min(1, s.flood) // Theorem 10 is for ε up to 1
	hat, tilde := s.split(bound, 0.5)
	list := usedAtoms(bound)
	if c.Calibration == Published {
		list = allAtoms(bound)
	}
	floods := newFloods(bound, list)
	floods[0].Total = sample.NegativeBinomial{R: theorem10(hat.logDelta), Eta: 0.2 * hat.eps / float64(bound)}
	r := theorem10(tilde.logDelta - math.Log(float64(2*bound-1)))
	gamma := dominance(bound)
	for k := range floods[1:] {
		t := (gamma-1)/magnitude(list[k]) + 1
		floods[k+1].Total = sample.NegativeBinomial{R: r, Eta: 0.2 * tilde.eps / (changed(c.Relation) * float64(t))}
	}
	return floods
}

// theorem10 returns r = 3(1+ln(1/δ)): NB(r, e^{−0.2ε/Δ}) is (ε, δ)-private for
// shifts up to Δ (Theorem 10 of the paper).
func theorem10(logDelta float64) float64 { return 3 * (1 - logDelta) }

// changed returns how many columns of C differ from 0 between neighbours.
func changed(relation fl.Relation) float64 {
	if relation == fl.ZeroOut {
		return 1
	}
	return 2
}

// newFloods returns the flood of D-hat and behind it the floods of D-tilde for the
// listed atoms, with no laws yet. For U = 1 there is no D-tilde: all columns of C
// are 0. The messages of all floods share one array.
func newFloods(bound int64, list []int64) []Flood {
	if bound == 1 {
		list = nil
	}
	floods := make([]Flood, 1+len(list))
	all := make([]int64, 0, 3*len(floods))
	all = messages(all, 1)
	floods[0].Messages = all[:2:2]
	for k, i := range list {
		start := len(all)
		all = messages(all, i)
		floods[k+1].Messages = all[start:len(all):len(all)]
	}
	return floods
}
