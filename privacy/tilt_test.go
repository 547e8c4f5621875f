package privacy

import (
	"math"
	"testing"
)

// The Chernoff bound must be above the sum everywhere and, at its best θ, close to it: for
// a Gaussian sum z deviations below zero the ratio is √(2π)·z/e. A misplaced θ shows as
// orders of magnitude.
func TestChernoffBound(t *testing.T) {
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
		n               int
	}{{0.1, 4, 11, 100}, {1, 4, 17, 10_000}, {1, 3, 5, 1000}, {5, 1, 150, 50}, {20, 1, 2, 2}, {12, 1, 200_000, 100_000}} {
		b := mustBlanket(t, c.epsilon, c.sparsity, c.slots)
		for _, share := range []float64{0, 0.01, 0.1, 0.5} {
			l := b.losses(share * c.epsilon)
			tilted := b.tilt(l, c.n)
			if tilted.chernoff < minChernoff {
				continue
			}
			sum := b.positivePart(l, tilted, c.n, &tables{budget: tableBudget})
			if ratio := tilted.chernoff / sum; ratio < 1-1e-9 || ratio > 100 {
				t.Errorf("%+v share %v: the Chernoff bound is %v times the sum", c, share, ratio)
			}
		}
	}
}

// The tilted law by its definition, over the outcomes of one message.
func TestTiltIsAProbability(t *testing.T) {
	b := mustBlanket(t, 1, 3, 5)
	l := b.losses(0.2)
	const clients = 500
	tilted := b.tilt(l, clients)
	theta := tilted.theta
	up := b.paired / 2 * math.Exp(theta*l.favour)
	down := b.paired / 2 * math.Exp(-theta*l.against)
	mid := b.unpaired * b.neutral * math.Exp(-theta*l.neutral)
	rest := b.unpaired * b.unneutral
	moment := up + down + mid + rest
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"paired", tilted.paired, (up + down) / moment},
		{"unpaired", tilted.unpaired, (mid + rest) / moment},
		{"neutral", tilted.neutral, mid / (mid + rest)},
		{"unneutral", tilted.unneutral, rest / (mid + rest)},
		{"some", tilted.some, 1 - math.Pow((mid+rest)/moment, clients)},
		{"chernoff", tilted.chernoff, (math.Pow(moment, clients) - math.Pow(mid+rest, clients)) / (math.E * theta)},
	} {
		if math.Abs(c.got/c.want-1) > 3e-9 { // chernoff is raised by 2^-30
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, nearby := range []float64{0.9, 1.1} {
		if other, _ := b.tiltBy(theta*nearby, l, clients); other.chernoff < tilted.chernoff {
			t.Errorf("θ = %v has bound %v, below %v at θ = %v", theta*nearby, other.chernoff, tilted.chernoff, theta)
		}
	}
}
