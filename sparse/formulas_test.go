package sparse

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// given is a tally in a state that a test chose.
type given struct {
	Tally       // nothing else is asked of it
	plus, minus []int32
}

func (g given) Counts() (plus, minus []int32) { return g.plus, g.minus }

func estimated(t *testing.T, c Calibration, scale float64, n int64, plus, minus []int32) *fl.Estimate {
	r := fl.Round{Mechanism: "test", Scale: scale}
	if c.estimatesFrequency() {
		r.Columns = []string{fl.ColumnFrequency, fl.ColumnPlus, fl.ColumnMinus}
	}
	m := &mechanism{scheme: &Scheme{}, round: &count.Round{Round: r}, point: Point{Sparsity: 3, Slots: 8}, calibration: c}
	e, err := (&tally{mechanism: m, hits: given{plus: plus, minus: minus}}).Estimate(n)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// column is a column that the estimate must have.
func column(t *testing.T, e *fl.Estimate, name string) fl.Series {
	t.Helper()
	s, ok := e.Column(name)
	if !ok {
		t.Fatalf("no column %q in %v", name, e.Columns)
	}
	return s
}

// Calibrations of the two shapes there are, with probabilities that are
// multiples of 2^-10: CoCo's, whose items are never hit together, and
// Collision's; and CoCo's with t = 2s, where both hits are as likely as outside.
var (
	paired   = Calibration{In: Joint{Own: 300. / 1024, Opposite: 40. / 1024}, Out: Joint{Own: 100. / 1024, Opposite: 100. / 1024}}
	separate = Calibration{
		In:  Joint{Own: 400. / 1024, Opposite: 64. / 1024, Both: 16. / 1024},
		Out: Joint{Own: 64. / 1024, Opposite: 64. / 1024, Both: 8. / 1024},
	}
	meanOnly = Calibration{In: Joint{Own: 200. / 1024, Opposite: 56. / 1024}, Out: Joint{Own: 128. / 1024, Opposite: 128. / 1024}}
)

// Counts that are exactly the expected ones of 1024 reports of the client with
// entries +1, −1 and 0 must give exactly these entries.
func TestEstimatesAreUnbiased(t *testing.T) {
	const n = 1024
	near := func(what string, got, want []float64) {
		t.Helper()
		for j := range want {
			if !(math.Abs(got[j]-want[j]) <= 1e-12) {
				t.Errorf("%s: coordinate %d: got %.15g, want %g", what, j, got[j], want[j])
			}
		}
	}
	for name, c := range map[string]Calibration{"paired": paired, "separate": separate, "t = 2s": meanOnly} {
		own, opposite, out := int32(n*c.In.Own), int32(n*c.In.Opposite), int32(n*c.Out.Own)
		e := estimated(t, c, 1, n, []int32{own, opposite, out}, []int32{opposite, own, out})
		near(name+": mean", e.Mean().Value, []float64{1, -1, 0})
		if !c.estimatesFrequency() {
			continue
		}
		near(name+": frequency", column(t, e, fl.ColumnFrequency).Value, []float64{1, 1, 0})
		near(name+": plus", column(t, e, fl.ColumnPlus).Value, []float64{1, 0, 0})
		near(name+": minus", column(t, e, fl.ColumnMinus).Value, []float64{0, 1, 0})
		// The gains themselves, with the constant term written out.
		a, b := c.itemGains()
		constant := -2 * c.frequencyGain() * c.Out.Own / 2
		near(name+": gains", []float64{
			a*c.In.Own + b*c.In.Opposite + constant, a*c.In.Opposite + b*c.In.Own + constant, (a+b)*c.Out.Own + constant,
		}, []float64{1, 0, 0})
	}
}

// moment returns E[f(own hit, opposite hit)^power] under the joint law.
func (p Joint) moment(power float64, f func(own, opposite float64) float64) float64 {
	return p.Both*math.Pow(f(1, 1), power) + (p.Own-p.Both)*math.Pow(f(1, 0), power) +
		(p.Opposite-p.Both)*math.Pow(f(0, 1), power) + (1-p.Own-p.Opposite+p.Both)*math.Pow(f(0, 0), power)
}

// The variance of one report's estimate is E[Y²] − E[Y]² over what the client
// holds, + − or nothing, and the hits. Here both moments are summed over the four
// outcomes of the hits, with the shares of the three kinds of clients that the
// estimates say, moved into their ranges.
//
// E[Y²] is linear in the shares, which are moved up to 0 and not down to 1 there. Three hits more
// than were seen are counted in it: three squared gains of a hit, per report.
func TestStandardErrorsAreTheExactOnes(t *testing.T) {
	standardErrorsAreExact(t, 4096, []int32{700, 420, 390, 2000, 10, 512, 60}, []int32{450, 900, 405, 1500, 20, 512, 1400})
	standardErrorsAreExact(t, 12, []int32{0, 1, 0, 2, 5, 12}, []int32{0, 0, 1, 2, 1, 0})
}

func standardErrorsAreExact(t *testing.T, reports int64, plus, minus []int32) {
	const scale = 3.0
	n := float64(reports)
	for name, c := range map[string]Calibration{"paired": paired, "separate": separate, "t = 2s": meanOnly} {
		e := estimated(t, c, scale, reports, plus, minus)
		var frequency, pluses, minuses fl.Series
		if c.estimatesFrequency() {
			frequency = column(t, e, fl.ColumnFrequency)
			pluses, minuses = column(t, e, fl.ColumnPlus), column(t, e, fl.ColumnMinus)
		}
		toMean := 1 / (c.In.Own - c.In.Opposite)
		toSupport := 1 / (c.In.Own + c.In.Opposite - 2*c.Out.Own)
		mean := func(own, opposite float64) float64 { return toMean * (own - opposite) }
		held := func(own, opposite float64) float64 { return toSupport * (own + opposite - 2*c.Out.Own) }
		item := func(own, opposite float64) float64 { return (mean(own, opposite) + held(own, opposite)) / 2 }
		other := func(own, opposite float64) float64 { return item(opposite, own) }
		check := func(what string, j int, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("%s: %s of coordinate %d: standard error %.15g, want %.15g", name, what, j, got, want)
			}
		}
		for j := range plus {
			p, m := float64(plus[j])/n, float64(minus[j])/n
			share := 1.0 // t = 2s: a report does not show it, and E[Y²] does not depend on it
			if c.estimatesFrequency() {
				share = max(held(p, m), 0)
			}
			y := min(math.Abs(mean(p, m)), share, 1)
			second := share*c.In.moment(2, mean) + (1-share)*c.Out.moment(2, mean) + 3*toMean*toMean/n
			check("mean", j, e.Mean().StdErr[j], scale*math.Sqrt((second-y*y)/n))
			if !c.estimatesFrequency() {
				continue
			}
			y = min(share, 1)
			second = share*c.In.moment(2, held) + (1-share)*c.Out.moment(2, held) + 3*toSupport*toSupport/n
			check("frequency", j, frequency.StdErr[j], math.Sqrt((second-y*y)/n))
			perHit := (toMean + toSupport) / 2
			for _, sign := range []struct {
				what     string
				own, opp float64
				series   fl.Series
			}{{"plus", p, m, pluses}, {"minus", m, p, minuses}} {
				f := min(max(item(sign.own, sign.opp), 0), share)
				y = min(f, 1)
				second = f*c.In.moment(2, item) + (share-f)*c.In.moment(2, other) + (1-share)*c.Out.moment(2, item) + 3*perHit*perHit/n
				check(sign.what, j, sign.series.StdErr[j], math.Sqrt((second-y*y)/n))
			}
		}
	}
}

// Hits that are rare among many reports are Poisson variables, λ of them expected. The worst λ
// is below 30; from 2000 on nothing changes.
func TestThreeHitsMoreCoverEveryRate(t *testing.T) {
	worst := 1.0
	for rate := 0.01; rate < 2000; rate *= 1.01 {
		law, covered := distuv.Poisson{Lambda: rate}, 0.0
		for hits := 0.0; hits < rate+10*math.Sqrt(rate)+30; hits++ {
			if math.Abs(hits-rate) < 1.96*math.Sqrt(hits+moreHits) {
				covered += law.Prob(hits)
			}
		}
		worst = min(worst, covered)
	}
	if worst < 0.94 || worst > 0.95 {
		t.Errorf("intervals cover %.4f at the worst rate, want at least 0.94, and no more than is asked for", worst)
	}
}

// The labels of a round add perSquare·Σx² to the squares of all standard errors. Σx² is the sum of
// the estimates' squares without their noise. Where the noise hides Σx², the labels add nothing.
func TestLabelsWidenStandardErrors(t *testing.T) {
	const perSquare = 0.25
	for _, c := range []struct{ value, stdErr, want []float64 }{
		{[]float64{1, -0.5, 0}, []float64{0.5, 0.5, 0.25}, []float64{0.25 + 0.171875, 0.25 + 0.171875, 0.0625 + 0.171875}},
		{[]float64{0.5, 0, 0}, []float64{0.5, 0.25, 0.25}, []float64{0.25, 0.0625, 0.0625}},
	} {
		widen(fl.Series{Value: c.value, StdErr: c.stdErr}, perSquare)
		for j, v := range c.stdErr {
			if math.Abs(v*v-c.want[j]) > 1e-15 {
				t.Errorf("squared standard error %g, want %g", v*v, c.want[j])
			}
		}
	}
}

// The squared norm of the noise is the variance of the reports' estimates over n−1, or their
// second moment for one report, and with fixed labels perSquare·d·Σx² more. Σx² is the sum of the
// estimates' squares without their noise.
func TestTheNormOfTheNoiseAddsUpTheVariances(t *testing.T) {
	for name, c := range map[string]Calibration{"paired": paired, "separate": separate, "t = 2s": meanOnly} {
		toMean, toSupport := c.meanGain(), 0.0
		if c.estimatesFrequency() {
			toSupport = c.frequencyGain()
		}
		y := func(own, opposite float64) float64 { return toMean * (own - opposite) }
		for _, n := range []int64{1, 1024} {
			// The hits of a client with entries +1 and 0: no frequency is moved.
			plus, minus := []float64{c.In.Own, 0}, []float64{c.In.Opposite, 0}
			if n == 1 {
				plus, minus = []float64{1, 0}, []float64{0, 0}
			}
			h := hits{calibration: c, n: float64(n)}
			seconds, squares := 0.0, 0.0
			for j := range plus {
				h.plus, h.minus = append(h.plus, int32(plus[j]*h.n)), append(h.minus, int32(minus[j]*h.n))
				share := 1.0
				if toSupport > 0 {
					share = toSupport * (plus[j] + minus[j] - 2*c.Out.Own) // below 0 at the second one
				}
				seconds += share*c.In.moment(2, y) + (1-share)*c.Out.moment(2, y)
				squares += math.Pow(y(plus[j], minus[j]), 2)
			}
			want := seconds
			if n > 1 {
				want = (seconds - squares) / (h.n - 1)
			}
			if got := estimated(t, c, 3, n, h.plus, h.minus).NoiseNorm / 3; !(math.Abs(got*got-want) <= 1e-12*want) {
				t.Errorf("%s, n = %d: squared norm %.15g, want %.15g", name, n, got*got, want)
			}
			labels := 0.25 * 2 * max(squares-want, 0)
			if got := h.noiseNorm(h.series(mean), 0.25); !(math.Abs(got*got-want-labels) <= 1e-12*(want+labels)) {
				t.Errorf("%s, n = %d: squared norm with labels %.15g, want %.15g", name, n, got*got, want+labels)
			}
		}
	}
}

// A conditional mean is the mean over the share of clients that hold the key. That share is moved into
// [1/n, 1], and the quotient into ±Scale.
func TestConditionalMeansStayInTheirRange(t *testing.T) {
	const scale, n = 3.0, 1024
	c := paired
	in, off := c.In.Own+c.In.Opposite, 2*c.Out.Own
	share := func(plus, minus int32) float64 { return (float64(plus+minus)/n - off) / (in - off) }
	mean := func(plus, minus int32) float64 { return float64(plus-minus) / n / (c.In.Own - c.In.Opposite) }
	plus, minus := []int32{300, 500, 100, 280, 20}, []int32{40, 400, 100, 5, 10}
	m := &mechanism{scheme: &Scheme{}, round: &count.Round{Round: fl.Round{Scale: scale, Columns: []string{fl.ColumnConditional}}}, calibration: c}
	e, err := (&tally{mechanism: m, hits: given{plus: plus, minus: minus}}).Estimate(n)
	if err != nil {
		t.Fatal(err)
	}
	got := column(t, e, fl.ColumnConditional)
	for j, want := range []float64{
		1,                       // every client holds it, with +
		mean(plus[1], minus[1]), // more than every client: as if all
		0,                       // none
		1,                       // the mean is larger than the share
		1,                       // fewer than none: as if one
	} {
		if want *= scale; !(math.Abs(got.Value[j]-want) <= 1e-12) {
			t.Errorf("coordinate %d: %.15g, want %.15g", j, got.Value[j], want)
		}
	}
	if share(plus[1], minus[1]) < 1.1 || mean(plus[3], minus[3]) < 1.1*share(plus[3], minus[3]) || share(plus[4], minus[4]) > -0.1 {
		t.Error("the counts do not leave the ranges")
	}
	if got.StdErr != nil {
		t.Errorf("a standard error: %v", got.StdErr)
	}
}
