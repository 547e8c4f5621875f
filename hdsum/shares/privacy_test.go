package shares

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/sample"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

// law is a law on the integers modulo its length.
type law []float64

// shareLaw returns the exact law of one client's noise of a coordinate modulo m, from the
// means of its clusters: its characteristic function is exp(Σ_j p^j/(j·n)·(ω^j + ω^−j − 2)).
func shareLaw(c sample.Clusters, m int) law {
	rate := make([]float64, m) // of clusters by their size modulo m
	for j := 1; j < 1<<c.Blocks; j++ {
		rate[j%m] += math.Exp(-c.Eta*float64(j)) / float64(j*c.Clients)
	}
	out := make(law, m)
	for t := range m {
		exponent := 0.0
		for j, v := range rate {
			exponent += v * (2*math.Cos(2*math.Pi*float64(t*j)/float64(m)) - 2)
		}
		for z := range out {
			out[z] += real(cmplx.Exp(complex(exponent, 2*math.Pi*float64(t*z)/float64(m)))) / float64(m)
		}
	}
	return out
}

// views returns the exact joint law of what one server and everybody see for n = 2 clients with the
// inputs x in one coordinate modulo m, by enumeration of both clients' masks and noises: the server's two shares
// and the sum.
func views(noise law, x [2]int, side fl.ShareSide) map[[3]int]float64 {
	m := len(noise)
	out := map[[3]int]float64{}
	for g0 := range m {
		for g1 := range m {
			for z0, p0 := range noise {
				for z1, p1 := range noise {
					y0, y1 := (x[0]+z0+m)%m, (x[1]+z1+m)%m
					view := [3]int{g0, g1, (y0 + y1) % m}
					if side == fl.SecondServer {
						view[0], view[1] = (y0-g0+m)%m, (y1-g1+m)%m
					}
					out[view] += p0 * p1 / float64(m*m)
				}
			}
		}
	}
	return out
}

// hockeyStick is the least δ for which P is (ε, δ)-close to Q.
func hockeyStick[K comparable](p, q map[K]float64, epsilon float64) float64 {
	delta := 0.0
	for k, v := range p {
		delta += max(0, v-math.Exp(epsilon)*q[k])
	}
	return delta
}

// neighbours are all pairs of inputs of the first client in ±levels under a relation.
func neighbours(levels int, relation fl.Relation) (out [][2]int) {
	for a := -levels; a <= levels; a++ {
		for b := -levels; b <= levels; b++ {
			if a != b && (relation == fl.ReplaceOne || a == 0 || b == 0) {
				out = append(out, [2]int{a, b})
			}
		}
	}
	return out
}

// What either server sees, with the released sum, keeps ε and δ for all neighbours under the
// round's relation, by enumeration: two clients, one coordinate, the integers modulo 8. It uses
// up ε: at 0.8·ε there is a pair that needs more than 100·δ.
func TestEitherServersViewIsPrivate(t *testing.T) {
	const modulus, epsilon, delta = 8, 1, 1e-6
	for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		for _, side := range sides {
			r := oneLevel(1, 2)
			r.Epsilon, r.Delta, r.Relation = epsilon, delta, relation
			m := open(t, r)
			noise := shareLaw(m.noise, modulus)
			worst, early := 0.0, 0.0
			for _, pair := range neighbours(1, relation) {
				for other := -1; other <= 1; other++ {
					p, q := views(noise, [2]int{pair[0], other}, side), views(noise, [2]int{pair[1], other}, side)
					worst = max(worst, hockeyStick(p, q, epsilon))
					early = max(early, hockeyStick(p, q, 0.8*epsilon))
				}
			}
			if !(worst <= delta) {
				t.Errorf("%v, server %d: δ(ε) = %g, promised %g", relation, side, worst, delta)
			}
			if early < 100*delta {
				t.Errorf("%v, server %d: δ(0.8·ε) = %g, more noise than needed", relation, side, early)
			}
		}
	}
}

// The released sum in two coordinates with two levels, without a modulus: the noise of three
// clients hides every neighbour. Only the difference of the inputs matters to it.
func TestTheSumIsPrivateInSeveralCoordinates(t *testing.T) {
	const wide = 1 << 8 // the noise beyond has a mass far below δ
	for relation, most := range map[fl.Relation]int{fl.ReplaceOne: 4, fl.ZeroOut: 2} {
		r := oneLevel(2, 3)
		r.Epsilon, r.Delta, r.Relation = 2, 1e-4, relation
		r.Params = r.Params.With(ParamLevels, fl.Int(2))
		m := open(t, r)
		one, factor := shareLaw(m.noise, wide), math.Exp(r.Epsilon)
		sum := convolve(convolve(one, one), one)
		worst := 0.0
		for a := -most; a <= most; a++ {
			for b := -most; b <= most; b++ {
				delta := 0.0
				for z0, p0 := range sum {
					q0 := factor * sum[(z0+a+wide)%wide]
					for z1, p1 := range sum {
						delta += max(0, p0*p1-q0*sum[(z1+b+wide)%wide])
					}
				}
				worst = max(worst, delta)
			}
		}
		if !(worst <= r.Delta) || worst < r.Delta/1000 {
			t.Errorf("%v: δ(ε) = %g, promised %g", relation, worst, r.Delta)
		}
	}
}

func convolve(p, q law) law {
	out := make(law, len(p))
	for i, a := range p {
		for j, b := range q {
			out[(i+j)%len(p)] += a * b
		}
	}
	return out
}

// The clients' code draws the law that the enumerations use.
func TestClientsDrawTheEnumeratedLaw(t *testing.T) {
	const draws, modulus = 60_000, 8
	for _, levels := range []int{1, 4} {
		r := oneLevel(1, 2)
		r.Params = r.Params.With(ParamLevels, fl.Int(levels))
		m := open(t, r)
		noise, counts, expected := shareLaw(m.noise, modulus), make([]float64, modulus), make([]float64, modulus)
		rng := newRand(10)
		for range draws {
			y, err := m.noisy([]float64{0}, rng)
			if err != nil {
				t.Fatal(err)
			}
			counts[y[0]%modulus]++
		}
		for z, p := range noise {
			expected[z] = draws * p
		}
		requireCounts(t, fmt.Sprintf("%d levels", levels), counts, expected)
	}
}

// What the cut leaves out is within its part of δ, and one block less would not do.
func TestTheCutIsPaidFor(t *testing.T) {
	type budget struct {
		epsilon, delta float64
		dim            int
	}
	budgets := []budget{{1, 1e-6, 2048}, {1e-3, 0.5, 1 << 20}, {20, 1e-200, 8}}
	for epsilon := 0.1; epsilon <= 20; epsilon *= 1.2 { // on both sides of every power of two
		budgets = append(budgets, budget{epsilon, 1e-9, 1}, budget{epsilon, 1e-9, 64})
	}
	for _, c := range budgets {
		r := oneLevel(1, 6000)
		r.Epsilon, r.Delta = c.epsilon, c.delta
		n, err := calibrate(r, c.dim, 1)
		if err != nil {
			t.Fatal(err)
		}
		if cost := (1 + math.Exp(c.epsilon)) * n.Missing(); !(cost <= c.delta*cut) {
			t.Errorf("%+v: the cut costs %g", c, cost)
		}
		if n.Blocks--; n.Blocks == 0 {
			continue // there is no less
		}
		if cost := (1 + math.Exp(c.epsilon)) * n.Missing(); cost <= c.delta*cut {
			t.Errorf("%+v: a block less costs only %g", c, cost)
		}
	}
}

// The coordinates of one report compose to what the cut leaves of δ, and to most of it.
func TestTheCutComesOutOfTheBudget(t *testing.T) {
	for relation, shift := range map[fl.Relation]float64{fl.ReplaceOne: 6, fl.ZeroOut: 3} {
		r := oneLevel(1, 6000)
		r.Epsilon, r.Delta, r.Relation = 1, 1e-6, relation
		const dim, levels = 64, 3
		n, err := calibrate(r, dim, levels)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := compose.Homogeneous{Epsilon: shift * n.Eta, Count: dim}.DeltaAt(r.Epsilon)
		if err != nil {
			t.Fatal(err)
		}
		if least := r.Delta * (1 - 2*cut); !(spent <= r.Delta*(1-cut) && spent >= least) {
			t.Errorf("%v: %d coordinates spend δ = %.9g, want %.9g to %.9g", relation, dim, spent, least, r.Delta*(1-cut))
		}
	}
}

// The variance of a sum is the noise's, in proportion to the reports, and at most 1/4 for the rounding
// of each report. At this ε the rounding is most of it.
func TestStandardErrorsHaveTheRounding(t *testing.T) {
	r := oneLevel(1, 100)
	r.Epsilon, r.Delta = 20, 1e-6
	m := open(t, r)
	sum := m.newTotal()
	sum.reports = 150
	e, err := m.estimate(&sum)
	if err != nil {
		t.Fatal(err)
	}
	noise := sample.DiscreteLaplace{Eta: m.noise.Eta}.Variance()
	if noise > 0.01*float64(sum.reports)/4 {
		t.Fatalf("the noise has the variance %g, the rounding %g", noise, float64(sum.reports)/4)
	}
	// One level is worth Scale: the range and d' are 1.
	want := r.Scale * math.Sqrt(1.5*noise+150./4) / 150
	if got := e.Mean().StdErr[0]; math.Abs(got-want) > 1e-12*want {
		t.Errorf("standard error %.15g, want %.15g", got, want)
	}
}
