package privacy

import "math"

// minChernoff is where the exact sum gives way to the Chernoff bound: about e^-400.
// Above it every probability that matters is a normal floating-point number.
const minChernoff = 0x1p-577

// tilt is an exponential change of measure. With S the sum of the losses of n messages
// and K = A + B, P_θ has density proportional to e^{θS}: under it the messages stay
// independent, and the rare event S > 0 becomes typical. S > 0 needs K >= 1, and
// y_+ <= e^{θy}/(eθ), so
//
//	E[S_+; event] <= chernoff·P_θ[event | K >= 1],   chernoff = E[e^{θS}; K >= 1]/(eθ).
//
// An event of conditional probability 2^-50 can therefore be cut from E[S_+] for a
// price that is a small multiple of 2^-50 of E[S_+] itself, however small that is.
// Any θ > 0 is valid.
type tilt struct {
	theta    float64
	chernoff float64 // an upper bound on E[S_+], in the unit of losses
	some     float64 // P_θ[K >= 1]

	// Probabilities of the kinds of one message under P_θ, as in bound.
	paired, unpaired   float64
	neutral, unneutral float64
}

// tilt finds the θ that minimises the Chernoff bound for n messages: log chernoff is a
// convex function of θ minus log θ, and its slope is E_θ[S | K >= 1] − 1/θ. The root
// is bracketed by doubling and halved 30 times. Cost: O(log n) exponentials.
func (b *bound) tilt(l losses, n int) tilt {
	slope := func(theta float64) float64 {
		_, _, mean := b.shift(theta, l, float64(n))
		return mean - 1/theta
	}
	// S is at most n·favour, so the slope is not positive at lo.
	lo := 1 / (float64(n) * l.favour)
	hi := 2 * lo
	for hi*l.favour < 300 && slope(hi) < 0 {
		lo, hi = hi, 2*hi
	}
	for range 30 {
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if slope(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	t, _ := b.tiltBy(hi, l, float64(n))
	return t
}

// tiltBy returns the tilt by theta and the mean of S under it, given K >= 1.
func (b *bound) tiltBy(theta float64, l losses, clients float64) (t tilt, mean float64) {
	t, moment, mean := b.shift(theta, l, clients)
	logMoment := math.Log(moment)
	if moment > 0.5 && moment < 2 {
		up, down, mid := math.Expm1(theta*l.favour), math.Expm1(-theta*l.against), math.Expm1(-theta*l.neutral)
		logMoment = math.Log1p(b.paired/2*(up+down) + b.unpaired*b.neutral*mid)
	}
	// At n = 10^9 the exponent is a sum of terms that cancel to within 1e-10.
	t.chernoff = math.Exp(clients*logMoment-1) * t.some / theta * (1 + 0x1p-30)
	return t, mean
}

// shift returns the tilt by theta without its Chernoff bound, which a search does not need, E[e^{θx}] of the loss x of one
// message, and the mean of S under the tilt, given K >= 1.
func (b *bound) shift(theta float64, l losses, clients float64) (t tilt, moment, mean float64) {
	up, down, mid := math.Exp(theta*l.favour), math.Exp(-theta*l.against), math.Exp(-theta*l.neutral)
	// Of unneutral + neutral = 1 one is at least ½, so kept does not underflow.
	kept := b.neutral*mid + b.unneutral
	moment = b.paired/2*(up+down) + b.unpaired*kept
	t = tilt{
		theta:     theta,
		paired:    b.paired / 2 * (up + down) / moment,
		unpaired:  b.unpaired * kept / moment,
		neutral:   b.neutral * mid / kept,
		unneutral: b.unneutral / kept,
	}
	if t.paired < 0.5 {
		t.some = -math.Expm1(clients * math.Log1p(-t.paired))
	} else {
		t.some = -math.Expm1(clients * math.Log(t.unpaired))
	}

	fromPaired := (up*l.favour - down*l.against) / (up + down)
	fromUnpaired := -t.neutral * l.neutral
	mean = clients*t.paired/t.some*(fromPaired-fromUnpaired) + clients*fromUnpaired
	return t, moment, mean
}
