package gaussian

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// squares is the squared norm of integers, exactly: they are far below 2^26 here.
func squares(x []int64) (sum int64) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// No gradient gives a longer vector than B, which the proof needs of every one. Gradients along a rotated axis have a
// coordinate of K, those along an axis have d' coordinates of ±16.
func TestNoVectorIsLongerThanTheSensitivity(t *testing.T) {
	rng := newRand(11)
	for _, dim := range []int{1, 2, 3, 64, 650} {
		m := open(t, testRound(dim))
		var gradients [][]float64
		for range 200 {
			g := make([]float64, dim)
			for j := range g {
				g[j] = rng.NormFloat64() * math.Exp(10*rng.NormFloat64())
			}
			gradients = append(gradients, g)
		}
		for _, v := range []float64{0, 1e-300, 2, 1e300, -math.MaxFloat64, math.SmallestNonzeroFloat64} {
			g := make([]float64, dim)
			g[0] = v
			flat := make([]float64, dim)
			for j := range flat {
				flat[j] = v
			}
			gradients = append(gradients, g, flat)
		}
		longest := int64(0)
		for _, g := range gradients {
			x, err := m.integers.of(g, rng)
			if err != nil {
				t.Fatal(err)
			}
			longest = max(longest, squares(x))
		}
		if longest > m.integers.most {
			t.Errorf("dim %d: a squared norm of %d, promised %d", dim, longest, m.integers.most)
		}
		if k := m.integers.units * m.integers.units; float64(longest) < 0.98*k {
			t.Errorf("dim %d: the longest vector has a squared norm of %d, less than K² = %g: nothing was tried", dim, longest, k)
		} else if dim == 1 && float64(m.integers.most) != k {
			t.Errorf("one coordinate: a squared norm of %d is promised, K² = %g is enough", m.integers.most, k)
		}
		b := math.Sqrt(float64(m.integers.most))
		for relation, want := range map[fl.Relation]float64{fl.ReplaceOne: 2 * b, fl.ZeroOut: b} {
			if got := m.integers.sensitivity(relation); !(got >= want && got < want*(1+1e-12)) {
				t.Errorf("dim %d, %v: sensitivity %g, want %g", dim, relation, got, want)
			}
		}
	}
}

// What an honest server releases keeps (ε, δ) for the farthest neighbours, by enumeration of its law in one coordinate:
// the floor of a normal variable around B and around −B, or 0. More than the noise that hides them in all d' coordinates is not needed,
// because the normal law is the same in every direction. It uses up ε: at 0.97·ε there is more than δ.
func TestAReleaseIsPrivate(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 4} {
		for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
			r := testRound(1)
			r.Epsilon, r.Relation = epsilon, relation
			m := open(t, r)
			law := distuv.Normal{Sigma: m.noise.sigma}
			b := int64(math.Sqrt(float64(m.integers.most)))
			apart := b
			if relation == fl.ReplaceOne {
				apart = 2 * b
			}
			delta := func(epsilon float64) (sum float64) {
				for z := -int64(9 * m.noise.sigma); z <= int64(9*m.noise.sigma); z++ {
					mass := func(z int64) float64 { return law.Survival(float64(-z-1)) - law.Survival(float64(-z)) } // of [z, z+1)
					sum += max(0, mass(z)-math.Exp(epsilon)*mass(z+apart))
				}
				return sum
			}
			if got := delta(epsilon); got > r.Delta*(1+1e-6) {
				t.Errorf("ε = %g, %v: δ = %g, promised %g", epsilon, relation, got, r.Delta)
			}
			if got := delta(0.9 * epsilon); got < 1.2*r.Delta {
				t.Errorf("ε = %g, %v: δ(0.9·ε) = %g, more noise than needed", epsilon, relation, got)
			}
		}
	}
}

// A release has the law ⌊S + N(0, σ²)⌋ in every coordinate: 64 coordinates of 400 releases, of both servers, in 20
// cells of a probability of about 1/20 each. The sums themselves stay without noise.
func TestAServerAddsTheWholeNoise(t *testing.T) {
	for name, m := range map[string]*mechanism{"masks": open(t, testRound(64)), "proofs": openProved(t, provedRound(64)).mechanism} {
		requireTheWholeNoise(t, name, m)
	}
}

func requireTheWholeNoise(t *testing.T, name string, m *mechanism) {
	t.Helper()
	all := pairs(t, m, 3)
	law := distuv.Normal{Sigma: m.noise.sigma}
	for _, side := range sides {
		s := newServer(t, m, side)
		for _, p := range all {
			if err := s.Add(p.id, p.share(side)); err != nil {
				t.Fatal(err)
			}
		}
		before := marshalled(t, s)
		counts, expected, rng := make([]float64, 20), make([]float64, 20), newRand(12)
		const releases = 400
		cell := func(z float64) int { return min(19, int(20*law.CDF(z+0.5))) }
		for z := math.Floor(-20 * law.Sigma); z <= 20*law.Sigma; z++ {
			expected[cell(z)] += releases * 64 * (law.CDF(z+1) - law.CDF(z))
		}
		for range releases {
			data, err := s.Release(rng)
			if err != nil {
				t.Fatal(err)
			}
			sum, _, _, err := m.read(released(side), data)
			if err != nil {
				t.Fatal(err)
			}
			for _, z := range difference(sum.sum, s.(*server).sum) {
				counts[cell(z)]++
			}
		}
		requireCounts(t, name, counts, expected)
		if string(marshalled(t, s)) != string(before) {
			t.Error("a release changed the sum")
		}
	}
}

// difference returns the numbers of a sum less another one's.
func difference(a, b sum) []float64 {
	out := make([]float64, 0, 64)
	switch a := a.(type) {
	case *ringSum:
		for i, v := range a.residues {
			out = append(out, float64(a.ring.signed(v-b.(*ringSum).residues[i])))
		}
	case *fieldSum:
		for i, v := range a.elements {
			v.SubAssign(&b.(*fieldSum).elements[i])
			out = append(out, signed(v)/thirds)
		}
	}
	return out
}

// σ is the least one, but for its grid: at most 1/parts above it. The guarantee names σ over the sensitivity.
func TestTheNoiseIsTheLeast(t *testing.T) {
	for _, dim := range []int{1, 650, 1 << 20} {
		for _, epsilon := range []float64{0.05, 1, 8} {
			r := testRound(dim)
			r.Epsilon = epsilon
			m := open(t, r)
			delta := m.integers.sensitivity(r.Relation)
			least, err := rounded.Sigma(epsilon, r.Delta, delta)
			if err != nil {
				t.Fatal(err)
			}
			if ratio := m.noise.sigma / least; !(ratio >= 1 && ratio < 1.021) {
				t.Errorf("dim %d, ε = %g: σ is %.5f times the least", dim, epsilon, ratio)
			}
			if g := m.Guarantee(); !(g.Sigma <= m.noise.sigma/delta && g.Sigma > m.noise.sigma/delta*(1-1e-13)) {
				t.Errorf("dim %d, ε = %g: noise multiplier %.17g, want %.17g", dim, epsilon, g.Sigma, m.noise.sigma/delta)
			}
		}
	}
}

// The standard error is at most 1.45 times a trusted server's, who adds the analytic Gaussian noise to the sum of clipped
// gradients once, for models of 650 to 10^6 coordinates and 200 clients.
func TestTheErrorIsThatOfATrustedServer(t *testing.T) {
	for _, dim := range []int{650, 10_000, 1_000_000} {
		for _, epsilon := range []float64{0.2, 1, 4} {
			r := testRound(dim)
			r.Epsilon, r.MinReports = epsilon, 200
			m := open(t, r)
			trusted, err := rounded.Sigma(epsilon, r.Delta, 2*r.Scale)
			if err != nil {
				t.Fatal(err)
			}
			if ratio := m.StandardError(200, 200) / (trusted / 200); !(ratio > 1.41 && ratio < 1.45) {
				t.Errorf("dim %d, ε = %g: %.4f times a trusted server's error", dim, epsilon, ratio)
			}
		}
	}
}

func TestDeltaPaysForTheDistanceOfTheLaw(t *testing.T) {
	r := testRound(1)
	least := (1 + math.Exp(r.Epsilon)) * rounded.Distance / cut
	for delta, ok := range map[float64]bool{least * 1.01: true, least * 0.99: false} {
		r.Delta = delta
		if _, err := fl.Open(r); (err == nil) != ok {
			t.Errorf("δ = %g: %v", delta, err)
		}
	}
}
