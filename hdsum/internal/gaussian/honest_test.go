package gaussian

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// honestRound is a round of two servers at ε = 4, and at ε = 2 if so many reports are of honest clients.
func honestRound(dim, honest int) fl.Round {
	r := testRound(dim)
	r.MinReports = max(r.MinReports, honest)
	r.Params = fl.Params{ParamHonestEpsilon: fl.Real(2), ParamHonestReports: fl.Int(honest)}
	return r
}

func TestHonestNoiseKeepsTheContract(t *testing.T) {
	for _, dim := range []int{1, 3, 20} {
		r, _, err := fl.Complete(honestRound(dim, 2))
		if err != nil {
			t.Fatal(err)
		}
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("dim %d: %v", dim, err)
		}
	}
}

// convolved is the law of the sum of two independent integers, whose laws have the given least values.
func convolved(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, p := range a {
		for j, q := range b {
			out[i+j] += p * q
		}
	}
	return out
}

// floored is the law of ⌊N(0, σ²)⌋ from −width on.
func floored(sigma float64, width int) []float64 {
	law, out := distuv.Normal{Sigma: sigma}, make([]float64, 2*width)
	for i := range out {
		z := float64(i - width)
		out[i] = law.Survival(-z-1) - law.Survival(-z)
	}
	return out
}

// hockeyStick is δ(ε) of a law and of itself moved by a number of integers.
func hockeyStick(law []float64, apart int, epsilon float64) (sum float64) {
	for z := range law {
		moved := 0.
		if z >= apart {
			moved = law[z-apart]
		}
		sum += max(0, law[z]-math.Exp(epsilon)*moved)
	}
	return sum
}

// What an honest server releases keeps both promises for the farthest neighbours, by enumeration of its law in one coordinate: the server's noise alone
// keeps ε, and with the noise of so many honest clients it keeps the smaller ε, also where the other server knows all else. Both use up
// their ε: at 0.9 of it there is more than δ.
func TestHonestClientsMakeTheReleaseMorePrivate(t *testing.T) {
	for _, honest := range []int{1, 3, 12} {
		for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
			r := honestRound(1, honest)
			r.Relation = relation
			m := open(t, r)
			apart := int(math.Sqrt(float64(m.integers.most)))
			if relation == fl.ReplaceOne {
				apart *= 2
			}
			law := floored(m.noise.sigma, int(10*m.noise.sigma))
			if got := hockeyStick(law, apart, r.Epsilon); got > r.Delta*(1+1e-6) {
				t.Errorf("%d honest, %v: δ = %g by the server alone, promised %g", honest, relation, got, r.Delta)
			}
			for range honest {
				law = convolved(law, floored(m.added.noise.sigma, int(10*m.added.noise.sigma)))
			}
			g, reports, ok := m.HonestGuarantee()
			if !ok || reports != honest || g.Epsilon != 2 || g.Delta != r.Delta || g.Trust != fl.TwoServers || g.Relation != relation {
				t.Fatalf("%+v, %d, %v", g, reports, ok)
			}
			if got := hockeyStick(law, apart, g.Epsilon); got > r.Delta*(1+1e-6) {
				t.Errorf("%d honest, %v: δ = %g, promised %g", honest, relation, got, r.Delta)
			}
			if got := hockeyStick(law, apart, 0.9*g.Epsilon); got < 1.2*r.Delta {
				t.Errorf("%d honest, %v: δ(0.9·ε) = %g, more noise than needed", honest, relation, got)
			}
		}
	}
}

// lessUniform is the law of ⌊N(0, σ²) − U₁ − … − Uₖ⌋ from −width on, for uniform U: the mean of the normal law's masses over the sum of the U, by
// Simpson's rule in each.
func lessUniform(sigma float64, uniforms, width int) []float64 {
	const steps = 32
	law := distuv.Normal{Sigma: sigma}
	// mass[i] is the probability of N to be below −width + i/steps.
	below := make([]float64, (2*width+uniforms+1)*steps+1)
	for i := range below {
		below[i] = law.CDF(float64(i)/steps - float64(width))
	}
	for range uniforms { // below(x) becomes ∫ below(x+u) du
		next := make([]float64, len(below)-steps)
		for i := range next {
			for j := 0; j < steps; j += 2 {
				next[i] += (below[i+j] + 4*below[i+j+1] + below[i+j+2]) / (3 * steps)
			}
		}
		below = next
	}
	out := make([]float64, 2*width)
	for i := range out {
		out[i] = below[(i+1)*steps] - below[i*steps]
	}
	return out
}

// The sum of rounded normal variables is a normal variable less uniform ones, rounded down, up to the distance that δ pays for. It is measured where it can
// be: at deviations of less than 1, which no round has. With one client the bound is at most ten times what is measured.
func TestRoundedNoisesAddUpToTheNormalLaw(t *testing.T) {
	for _, honest := range []int{1, 2, 3} {
		for _, sigma := range []float64{0.4, 0.5, 0.7} {
			server := noise{sigma: 0.8}
			a := &added{noise: noise{sigma: sigma}, honest: int64(honest)}
			const width = 16
			got, total := floored(server.sigma, width), server.sigma*server.sigma
			for range honest {
				got = convolved(got, floored(sigma, width))
				total += sigma * sigma
			}
			want := lessUniform(math.Sqrt(total), honest, width*(honest+1))
			distance := 0.
			for i, p := range got {
				distance += math.Abs(p-want[i]) / 2
			}
			if bound := a.distance(server); !(distance <= bound) || honest == 1 && distance < bound/10 {
				t.Errorf("%d clients, σ = %g: a distance of %.3g, and a bound of %.3g", honest, sigma, distance, bound)
			}
		}
	}
}

// The least noise: a server's for ε, and of the clients what is missing for the smaller ε. A sum of all reports has 1.15 times a trusted
// server's error at ε = 1, with nine honest clients of ten and ε = 2 without them.
func TestHonestNoiseIsTheLeast(t *testing.T) {
	for _, dim := range []int{1, 64, 2048} {
		for _, honest := range []int{36, 900, 54000} {
			r := testRound(dim)
			r.MinReports, r.TargetReports = honest/9*10, honest/9*10
			r.Params = fl.Params{ParamHonestEpsilon: fl.Real(1), ParamHonestReports: fl.Int(honest)}
			r.Epsilon = 2
			m := open(t, r)
			delta := m.integers.sensitivity(r.Relation)
			whole, err := rounded.Sigma(1, r.Delta, delta)
			if err != nil {
				t.Fatal(err)
			}
			g, _, _ := m.HonestGuarantee()
			if ratio := g.Sigma * delta / whole; !(ratio >= 1 && ratio < 1.01) {
				t.Errorf("dim %d, %d honest: %.4f times the least noise", dim, honest, ratio)
			}
			if want := math.Hypot(m.noise.sigma, math.Sqrt(float64(honest))*m.added.noise.sigma) / delta; !(g.Sigma <= want) {
				t.Errorf("dim %d, %d honest: a multiplier of %.17g, and the noises have %.17g", dim, honest, g.Sigma, want)
			}
			if !(m.added.given(m.noise) >= 2) {
				t.Errorf("dim %d, %d honest: a client's noise has σ = %g", dim, honest, m.added.noise.sigma)
			}
			trusted, err := rounded.Sigma(1, r.Delta, 2*r.Scale)
			if err != nil {
				t.Fatal(err)
			}
			n := float64(r.MinReports)
			rounding := m.integers.deviation(n/4) / n
			if ratio := math.Sqrt(math.Pow(m.StandardError(r.MinReports, r.MinReports), 2)-rounding*rounding) / (trusted / n); !(ratio > 1.15 && ratio < 1.19) {
				t.Errorf("dim %d, %d honest: %.4f times a trusted server's error", dim, honest, ratio)
			}
		}
	}
}

func TestHonestParamsAreChecked(t *testing.T) {
	for i, c := range []struct {
		param  string
		change func(*fl.Round)
	}{
		{ParamHonestEpsilon, func(r *fl.Round) { r.Params[ParamHonestEpsilon] = fl.Real(4) }},
		{ParamHonestEpsilon, func(r *fl.Round) { r.Params[ParamHonestEpsilon] = fl.Real(3.99999) }},
		{ParamHonestEpsilon, func(r *fl.Round) { r.Params[ParamHonestEpsilon] = fl.Real(0) }},
		{ParamHonestEpsilon, func(r *fl.Round) { r.Params[ParamHonestEpsilon] = fl.Real(1e-10) }},
		{ParamHonestEpsilon, func(r *fl.Round) { // more noise than there is
			r.Dim, r.Delta, r.Params[ParamHonestEpsilon], r.Params[ParamHonestReports] = 1<<16, 1e-7, fl.Real(1e-7), fl.Int(1)
		}},
		{ParamHonestEpsilon, func(r *fl.Round) { r.Params[ParamHonestEpsilon] = fl.Real(math.NaN()) }},
		{ParamHonestEpsilon, func(r *fl.Round) { r.Params[ParamOwnEpsilon] = fl.Real(6) }},
		{ParamHonestEpsilon, func(r *fl.Round) { r.Params[ParamProof] = fl.Text(Prio3) }},
		{ParamHonestReports, func(r *fl.Round) { r.Params[ParamHonestReports] = fl.Int(0) }},
		{ParamHonestReports, func(r *fl.Round) { r.Params[ParamHonestReports] = fl.Int(r.MinReports + 1) }},
		{ParamHonestReports, func(r *fl.Round) { delete(r.Params, ParamHonestReports) }},
		{ParamHonestReports, func(r *fl.Round) { delete(r.Params, ParamHonestEpsilon) }},
		{"delta", func(r *fl.Round) { // 8 coordinates: more than the server's (1 + e^4)·8 distances, less than (1 + e^2)·8·31
			r.Params[ParamHonestReports], r.MinReports, r.Delta = fl.Int(30), 30, 8*100*rounded.Distance/cut
		}},
	} {
		r := honestRound(5, 3)
		c.change(&r)
		if _, err := fl.Open(r); !isParam(err, c.param) {
			t.Errorf("%d: %v, want an error about %s", i, err, c.param)
		}
	}
	if g, reports, ok := open(t, ownRound(5)).HonestGuarantee(); ok {
		t.Errorf("own noise promises %+v with %d honest clients", g, reports)
	}
	if g, ok := open(t, honestRound(5, 3)).OwnGuarantee(); ok {
		t.Errorf("a part of the noise promises %+v alone", g)
	}
}
