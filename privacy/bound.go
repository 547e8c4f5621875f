package privacy

import "math"

// bound is the right-hand side that Blanket and Clone have in common:
//
//	δ(ε_c) <= (scale/n)·E[((e^ε − q)·A − (e^ε·q − 1)·B − m·(q − 1)·R)_+],   q = e^{ε_c},
//
// where A, B, R count the messages of three kinds among n. Kinds A and B have the
// same probability.
type bound struct {
	epsilon float64
	gain    float64 // e^ε − 1
	scale   float64

	// A message is of kind A or B with probability paired, of kind R or none with
	// probability unpaired = 1 − paired; of the latter a share of neutral is of
	// kind R. The complements are kept because a difference would cancel.
	paired, unpaired   float64
	neutral, unneutral float64
	neutralWeight      float64 // m

	coarse bool // tables have coarseBudget entries
}

// budget is the number of table entries for one Delta.
func (b *bound) budget() int {
	if b.coarse {
		return coarseBudget
	}
	return tableBudget
}

// deltaWith returns the bound for checked arguments, with tables that may be there already, for the same n. Their budget limits
// the work spent on them.
func (b *bound) deltaWith(n int, epsilonCentral float64, kept *tables) float64 {
	if epsilonCentral >= b.epsilon {
		return 0 // the local guarantee holds with δ = 0
	}
	l := b.losses(epsilonCentral)
	t := b.tilt(l, n)
	unit := b.unit(n)
	chernoff := t.chernoff * unit
	if t.chernoff < minChernoff {
		return max(chernoff, math.SmallestNonzeroFloat64)
	}
	return min(chernoff, b.positivePart(l, t, n, kept)*unit)
}

// unit is what an expectation in the unit of losses is multiplied by to give δ.
func (b *bound) unit(n int) float64 { return b.scale * b.gain / float64(n) }

// losses holds what one message of each kind adds to the sum inside the expectation,
// in units of e^ε − 1. That unit keeps all of them in [0, e^ε] for every ε, however small.
type losses struct {
	favour  float64 // kind A adds (e^ε − q)/(e^ε − 1), in (0, 1]
	against float64 // kind B takes away (e^ε·q − 1)/(e^ε − 1)
	neutral float64 // kind R takes away m·(q − 1)/(e^ε − 1)
	excess  float64 // (q − 1)/(e^ε − 1), in [0, 1)
	width   float64 // favour + against = 1 + q
}

// losses returns the losses at q = e^{ε_c}, 0 <= ε_c < ε. The difference e^ε − q is
// taken as q·(e^{ε − ε_c} − 1), which keeps its digits as ε_c approaches ε.
func (b *bound) losses(epsilonCentral float64) losses {
	q := math.Exp(epsilonCentral)
	excess := math.Expm1(epsilonCentral) / b.gain
	return losses{
		favour:  q * (math.Expm1(b.epsilon-epsilonCentral) / b.gain),
		against: q + excess,
		neutral: b.neutralWeight * excess,
		excess:  excess,
		width:   1 + q,
	}
}
