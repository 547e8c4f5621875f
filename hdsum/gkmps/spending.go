package gkmps

import "math"

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
