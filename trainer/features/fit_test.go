package features

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// cloud are n points of d values around (1, 1, …), with a smaller variance in each direction than
// in the one before.
func cloud(n, d int) [][]float64 {
	rng, out := rand.New(rand.NewPCG(1, 2)), make([][]float64, n)
	for i := range out {
		for j := range d {
			out[i] = append(out[i], 1+rng.NormFloat64()/float64(1+j))
		}
		out[i][0] += out[i][d-1] // two directions that are no axes
	}
	return out
}

// Mean and components are the ones that gonum's stat computes, for many short and for few long examples.
func TestFitIsPrincipalComponentAnalysis(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{300, 12, 5}, {20, 50, 7}, {13, 13, 12}} {
		x := cloud(c.n, c.d)
		p, err := Fit(t.Context(), must[Features](t)(Identity(c.d)), Public{"a cloud", x}, Fitting{Components: c.k}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := mat.NewDense(c.n, c.d, slices.Concat(x...))
		var pc stat.PC
		if !pc.PrincipalComponents(all, nil) {
			t.Fatal("stat.PC failed")
		}
		var directions mat.Dense
		pc.VectorsTo(&directions)
		mean := make([]float64, c.d)
		for j := range mean {
			mean[j] = stat.Mean(mat.Col(nil, j, all), nil)
		}
		if !near(p.mean, mean, 1e-12) {
			t.Errorf("n = %d: mean %v, want %v", c.n, p.mean, mean)
		}
		for k := range c.k {
			got, want := p.project.Data[k*c.d:(k+1)*c.d], mat.Col(nil, k, &directions)
			peak := slices.MaxFunc(want, func(a, b float64) int { return int(math.Copysign(1, math.Abs(a)-math.Abs(b))) })
			for j := range want {
				want[j] *= math.Copysign(1, peak)
			}
			if !near(got, want, 1e-9) {
				t.Errorf("n = %d, component %d: %v, want %v", c.n, k, got, want)
			}
		}
		if p.Dim() != c.k {
			t.Errorf("%d values, want %d", p.Dim(), c.k)
		}
	}
}

// The digest is the digest of how the numbers were computed: another machine, which rounds
// otherwise, has the same digest. It was recorded when the format was fixed.
func TestTheDigestOfAFitIsItsRecipe(t *testing.T) {
	backbone := must[Features](t)(Identity(4))
	fit := func(recipe string, x [][]float64, o Fitting) *Pipeline {
		t.Helper()
		return must[*Pipeline](t)(Fit(t.Context(), backbone, Public{recipe, x}, o, nil))
	}
	x := cloud(30, 4)
	first := fit("30 points", x, Fitting{Components: 2, Bias: .3})
	rounded := cloud(30, 4)
	rounded[3][1] = math.Nextafter(rounded[3][1], 9)
	if fit("30 points", rounded, Fitting{Components: 2, Bias: .3}).Digest() != first.Digest() {
		t.Error("rounding changes the digest")
	}
	const want = "b59d1bbe7174fd3e92944f27ca636313b5c442be99e2ed6280edd6744ec1e0a8"
	digest := first.Digest()
	if got := hex.EncodeToString(digest[:]); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	seen := [][32]byte{digest}
	for what, p := range map[string]*Pipeline{
		"recipe":     fit("thirty points", x, Fitting{Components: 2, Bias: .3}),
		"number":     fit("30 points", x[1:], Fitting{Components: 2, Bias: .3}),
		"components": fit("30 points", x, Fitting{Components: 3, Bias: .3}),
		"channels":   fit("30 points", x, Fitting{Channels: 2, Components: 2, Bias: .3}),
		"no rest":    fit("30 points", x, Fitting{Bias: .3}),
		"logarithm":  fit("30 points", x, Fitting{Channels: 2, Logarithm: 1, Components: 2, Bias: .3}),
		"whitening":  fit("30 points", x, Fitting{Components: 2, Whitening: .25, Bias: .3}),
		"more of it": fit("30 points", x, Fitting{Components: 2, Whitening: .5, Bias: .3}),
		"bias":       fit("30 points", x, Fitting{Components: 2, Bias: .4}),
		"backbone":   must[*Pipeline](t)(Fit(t.Context(), must[Picture](t)(Grey(2, 2, 1)), Public{"30 points", x}, Fitting{Components: 2, Bias: .3}, nil)),
	} {
		if slices.Contains(seen, p.Digest()) {
			t.Errorf("%s does not count", what)
		}
		seen = append(seen, p.Digest())
	}
	if want := "the values as they are, minus the mean of 30 points, their 2 principal components, norm 3.333"; first.String() != want {
		t.Errorf("%v, want %s", first, want)
	}
}

// After Fit each channel has the mean square 1 over the public examples, before the mean is taken away. A
// channel of zeros stays one.
func TestFitLevelsChannels(t *testing.T) {
	x := cloud(50, 6)
	for i := range x {
		x[i][2], x[i][3] = 0, 0
	}
	var squares [6]float64
	for i := range x {
		for j, v := range x[i] {
			squares[j] += v * v / 50
		}
	}
	first, last := 1/math.Sqrt((squares[0]+squares[1])/2), 1/math.Sqrt((squares[4]+squares[5])/2)
	for _, components := range []int{0, 4} { // the levelled examples vary in 4 directions
		p, err := Fit(t.Context(), must[Features](t)(Identity(6)), Public{"a cloud", x}, Fitting{Channels: 3, Components: components}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{x[7][0] * first, x[7][1] * first, 0, 0, x[7][4] * last, x[7][5] * last}
		floats.Sub(want, p.mean)
		got := apply(p, x[7])
		if components == 0 && !near(got, want, 1e-12) || math.Abs(floats.Norm(got, 2)-floats.Norm(want, 2)) > 1e-12 {
			t.Errorf("%d components: got %v, want %v or its turn", components, got, want)
		}
	}
}

// Logarithms are taken of values over the mean of their channel, by the definition. Levels are taken of
// logarithms.
func TestFitTakesLogarithms(t *testing.T) {
	x := cloud(50, 6)
	mean := 0.
	for i := range x {
		x[i][4], x[i][5] = 0, 0
		mean += (math.Abs(x[i][0]) + math.Abs(x[i][1])) / 100
	}
	p := must[*Pipeline](t)(Fit(t.Context(), must[Features](t)(Identity(6)), Public{"a cloud", x}, Fitting{Channels: 3, Logarithm: .5}, nil))
	log := func(v float64) float64 { return math.Copysign(math.Log(1+math.Abs(v)/(.5*mean)), v) }
	square, centre := 0., 0.
	for i := range x {
		square += (math.Pow(log(x[i][0]), 2) + math.Pow(log(x[i][1]), 2)) / 100
		centre += log(x[i][0]) / 50
	}
	for _, v := range [][]float64{x[3], {-2, 0, 0, 0, 0, 0}} {
		if got, want := apply(p, v)[0], (log(v[0])-centre)/math.Sqrt(square); math.Abs(got-want) > 1e-12 {
			t.Errorf("got %g, want %g", got, want)
		}
	}
	// With components, too: as many as there are directions keep all distances.
	turned := must[*Pipeline](t)(Fit(t.Context(), must[Features](t)(Identity(6)), Public{"a cloud", x}, Fitting{Channels: 3, Logarithm: .5, Components: 4}, nil))
	if a, b := floats.Norm(apply(p, x[3]), 2), floats.Norm(apply(turned, x[3]), 2); math.Abs(a-b) > 1e-12 {
		t.Errorf("norm %g, and %g along components", a, b)
	}
	if want := "the values as they are, logarithms from 0.5 of the mean, 3 channels of equal size, minus the mean of a cloud"; p.String() != want {
		t.Errorf("%v, want %s", p, want)
	}
}

// The power 1/2 makes variances along components equal to the first, and 1/4 takes their roots.
func TestFitWhitens(t *testing.T) {
	x := cloud(60, 5)
	variances := func(whitening float64) (out [3]float64) {
		p := must[*Pipeline](t)(Fit(t.Context(), must[Features](t)(Identity(5)), Public{"a cloud", x}, Fitting{Components: 3, Whitening: whitening}, nil))
		for i := range x {
			for k, v := range apply(p, x[i]) {
				out[k] += v * v / 60
			}
		}
		return out
	}
	plain, quarter, half := variances(0), variances(.25), variances(.5)
	for k := range 3 {
		if math.Abs(half[k]/plain[0]-1) > 1e-9 || math.Abs(quarter[k]/math.Sqrt(plain[k]*plain[0])-1) > 1e-9 {
			t.Errorf("component %d: variances %g, %g, %g", k, plain[k], quarter[k], half[k])
		}
	}
	if plain[2] > .9*plain[0] {
		t.Errorf("variances %v differ too little", plain)
	}
}

func TestFitRefuses(t *testing.T) {
	backbone, x := must[Features](t)(Identity(4)), cloud(30, 4)
	flat := slices.Repeat([][]float64{{1, 2, 3, 4}, {2, 2, 3, 4}, {3, 2, 3, 4}}, 3)
	infinite := [][]float64{{1, 2, 3, 4}, {1, 2, 3, math.Inf(1)}}
	for want, c := range map[string]struct {
		public Public
		o      Fitting
	}{
		"recipe: got ":       {Public{"", x}, Fitting{}},
		"recipe: got \"":     {Public{strings.Repeat("x", 257), x}, Fitting{}},
		"examples: got 1":    {Public{"x", x[:1]}, Fitting{}},
		"channels: got 3":    {Public{"x", x}, Fitting{Channels: 3}},
		"channels: got -1":   {Public{"x", x}, Fitting{Channels: -1}},
		"components: got 5":  {Public{"x", x}, Fitting{Components: 5}},
		"components: got 3":  {Public{"x", x[:3]}, Fitting{Components: 3}},
		"components: got -1": {Public{"x", x}, Fitting{Components: -1}},
		"components: got 2":  {Public{"x", flat}, Fitting{Components: 2}},
		"logarithm: got 1":   {Public{"x", x}, Fitting{Logarithm: 1}},
		"logarithm: got NaN": {Public{"x", x}, Fitting{Channels: 2, Logarithm: math.NaN()}},
		"logarithm: got -1":  {Public{"x", x}, Fitting{Channels: 2, Logarithm: -1}},
		"whitening: got 0.6": {Public{"x", x}, Fitting{Components: 2, Whitening: .6}},
		"whitening: got NaN": {Public{"x", x}, Fitting{Components: 2, Whitening: math.NaN()}},
		"whitening: got 0.5": {Public{"x", x}, Fitting{Whitening: .5}},
		"bias: got NaN":      {Public{"x", x}, Fitting{Bias: math.NaN()}},
		"mean: got \"NaN":    {Public{"x", infinite}, Fitting{}},
		"examples[1]: got 3": {Public{"x", [][]float64{{1, 2, 3, 4}, {1, 2, 3}}}, Fitting{}},
	} {
		if p, err := Fit(t.Context(), backbone, c.public, c.o, nil); p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, error %v, want one with %q", p, err, want)
		}
	}
	if p, err := Fit(t.Context(), backbone, Public{"x", infinite}, Fitting{Components: 1}, nil); err == nil {
		t.Errorf("components of an infinite example: %v", p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, backbone, Public{"x", x}, Fitting{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

type steps struct{ announced, counted atomic.Int64 }

func (s *steps) Grow(n int) { s.announced.Add(int64(n)) }
func (s *steps) Step()      { s.counted.Add(1) }

// All vectors are those that Apply computes, whatever the number of examples.
func TestAll(t *testing.T) {
	f := must[*Pipeline](t)(NewPipeline(must[Features](t)(Identity(5)), Parts{Mean: make([]float64, 5), Components: [][]float64{{1, 2, 3, 4, 5}, {0, 0, 0, 0, 1}}, Bias: 1}))
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		x, p := cloud(n, 5), &steps{}
		out, err := All(t.Context(), f, x, p)
		if err != nil || len(out) != 2*n {
			t.Fatalf("%d examples: %d values, %v", n, len(out), err)
		}
		for i := range x {
			if !slices.Equal(out[2*i:2*i+2], apply(f, x[i])) {
				t.Errorf("example %d of %d: %v", i, n, out[2*i:2*i+2])
			}
		}
		if want := int64(n+63) / 64; p.announced.Load() != want || p.counted.Load() != want {
			t.Errorf("%d examples: %d steps announced and %d counted, want %d", n, p.announced.Load(), p.counted.Load(), want)
		}
	}
}

// The first components of vectors are what the pipeline with fewer of them computes, with a norm of their own.
func TestKeepTakesTheFirstComponents(t *testing.T) {
	x := cloud(60, 8)
	for _, o := range []Fitting{{Components: 6, Bias: .3}, {Components: 6, Whitening: .25}, {Components: 6, Channels: 4, Logarithm: 1, Bias: 1}} {
		identity := must[Features](t)(Identity(8))
		wide := must[*Pipeline](t)(Fit(t.Context(), identity, Public{"a cloud", x}, o, nil))
		kept := must[*Pipeline](t)(wide.Keep(3))
		o.Components = 3
		narrow := must[*Pipeline](t)(Fit(t.Context(), identity, Public{"a cloud", x}, o, nil))
		if got, want := apply(kept, x[0]), apply(narrow, x[0]); kept.Dim() != 3 || !near(got, want, 1e-12) {
			t.Errorf("%+v: %v, want %v", o, got, want)
		}
		if Centred(kept) != Centred(wide) {
			t.Errorf("%+v: centred %v", o, Centred(kept))
		}
		if all := must[*Pipeline](t)(wide.Keep(6)); all.Digest() == kept.Digest() || kept.Digest() == wide.Digest() {
			t.Errorf("%+v: digests do not cover the number of components", o)
		}
		for _, k := range []int{0, 7} {
			if _, err := wide.Keep(k); err == nil {
				t.Errorf("Keep(%d) of 6", k)
			}
		}
	}
}
