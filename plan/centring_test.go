package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// apart are examples of four classes whose features have one norm, and a mean in common that is far from 0.
func apart(t *testing.T, from float64) *Examples {
	t.Helper()
	const n, k, classes = 4000, 24, 4
	rng := rand.New(rand.NewPCG(3, 9))
	centres := make([][]float64, classes)
	for c := range centres {
		for range k {
			centres[c] = append(centres[c], rng.NormFloat64())
		}
	}
	x, labels := make([][]float64, n), make([]int, n)
	for i := range x {
		labels[i] = rng.IntN(classes)
		for j := range k {
			x[i] = append(x[i], from+0.35*centres[labels[i]][j]+rng.NormFloat64())
		}
		floats.Scale(3/floats.Norm(x[i], 2), x[i])
	}
	e, err := NewExamples(x, labels, classes)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Features that have a mean in common are learned better around it, and what is said of the run says so.
func TestARunBeginsWithTheMeanOfTheFeatures(t *testing.T) {
	if !*Long {
		t.Skip("takes a second or two")
	}
	for _, c := range []struct {
		name  string
		trust Trust
		from  float64 // the features' mean
		least float64 // gain by the round
		plain float64 // and without privacy
	}{
		{"a common mean", Shuffler, 4, 0.01, 0.3},
		{"no mean", Shuffler, 0, -0.02, -0.01},
		{"a common mean, each client once", Nobody, 4, 0.02, 0.2},
	} {
		q := Request{Mechanism: "privunit", Trust: c.trust, Clients: 6000, Rounds: 16, Budget: 1, Delta: 1e-6, Centred: true, Examples: apart(t, c.from), Force: true}
		if c.trust == Nobody {
			q.Budget = 4
		}
		q.Dim = q.Examples.Dim()
		without, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q.Centre = true
		with, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if with.Centring == nil || without.Centring != nil {
			t.Fatalf("%s: the first rounds are about %v and %v", c.name, with.Centring, without.Centring)
		}
		if with.Template.Epsilon != without.Template.Epsilon || with.Affordable != without.Affordable {
			t.Errorf("%s: the round changes what a client spends", c.name)
		}
		if gain := with.Expected.Accuracy - without.Expected.Accuracy; gain < c.least {
			t.Errorf("%s: %v with the mean, %v without it", c.name, with.Expected, without.Expected)
		}
		if gain := with.Expected.WithoutPrivacy - without.Expected.WithoutPrivacy; gain < c.plain {
			t.Errorf("%s, no privacy: %v with the mean, %v without it", c.name, with.Expected, without.Expected)
		}
	}
}

// A round is spent where there are enough, and where it finds a mean.
func TestNoRoundIsSpentOnAMeanForNothing(t *testing.T) {
	q := Request{Centre: true, Examples: apart(t, 1)}
	if q.centring(LeastCentred, 1, 0, 0.01) == nil {
		t.Error("no round of as few as are enough")
	}
	for name, c := range map[string]*Centring{
		"few rounds": q.centring(LeastCentred-1, 1, 0, 0.01),
		"noise":      q.centring(LeastCentred, 1, 0, 1/math.Sqrt(24)+1e-9),
		"not asked":  Request{Examples: q.Examples}.centring(LeastCentred, 1, 0, 0.01),
	} {
		if c != nil {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// No mechanism clips an answer, and its mean is the mean of the features.
func TestAnswersAreNotClipped(t *testing.T) {
	x := apart(t, 1).x[:50]
	for name, at := range map[string]struct {
		clip     clipping
		sparsity int
	}{
		"L2": {wholeClip(0.7), 0}, "few entries": {ternaryClip(2, 0.3), 2}, "many entries": {ternaryClip(40, 0.3), 40},
	} {
		scale := at.clip.norm
		if at.sparsity > 0 {
			scale = at.clip.top
		}
		c := NewCentring(24, 3, scale, at.sparsity)
		answer, mean, value := make([]float64, 100), make([]float64, 24), make([]float64, 100)
		for _, row := range x {
			c.Answer(answer, row)
			floats.AddScaled(value, 1./50, answer)
			floats.AddScaled(mean, 1./50, row)
			cut := append([]float64(nil), answer...)
			if at.clip.apply(cut); !floats.EqualApprox(cut, answer, 1e-12) {
				t.Fatalf("%s: the answer %v is clipped to %v", name, answer, cut)
			}
		}
		e := fl.NewEstimate(fl.Round{}, fl.Guarantee{}, 50, fl.Series{Value: value})
		if e.NoiseNorm = 0; !floats.EqualApprox(c.Mean(e), mean, 1e-12) {
			t.Errorf("%s: the mean is %v, want %v", name, c.Mean(e), mean)
		}
		e.Suspects = []int{3, 99}
		without := append([]float64(nil), mean...)
		if without[3] = 0; !floats.EqualApprox(c.Mean(e), without, 1e-12) {
			t.Errorf("%s: the mean is %v where clients lie", name, c.Mean(e))
		}
		e.Suspects = nil
		e.NoiseNorm = c.Magnitude * floats.Norm(mean, 2) * math.Sqrt(100./24) // noise as long as the mean
		if got := c.Mean(e); floats.Norm(got, 2) > 1e-12 {
			t.Errorf("%s: a mean that is as long as its noise is %v", name, got)
		}
		e.NoiseNorm /= 2
		if got := floats.Norm(c.Mean(e), 2) / floats.Norm(mean, 2); math.Abs(got-0.75) > 1e-12 {
			t.Errorf("%s: of a mean twice as long as its noise %v is left, want 3/4", name, got)
		}
	}
}

func TestAClientMovesItsFeaturesAroundTheMean(t *testing.T) {
	x := [][]float64{{3, 4}, {-5, 0}, {1, 2}, {0, 0}}
	Around([]float64{1, 2}, x...)
	want := [][]float64{{5 / math.Sqrt2, 5 / math.Sqrt2}, {-5 * 6 / math.Sqrt(40), -5 * 2 / math.Sqrt(40)}, {0, 0}, {0, 0}}
	for i, row := range x {
		if !floats.EqualApprox(row, want[i], 1e-12) {
			t.Errorf("vector %d is %v, want %v", i, row, want[i])
		}
	}
}
