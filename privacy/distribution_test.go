package privacy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// must fails the test on an error and returns the value otherwise.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// enclose checks lower <= truth <= upper up to the relative precision of truth, and that
// the two are at most width apart.
func enclose(t *testing.T, what string, b privacy.Bounds, truth, precision, width float64) {
	t.Helper()
	if !(b.Upper >= truth*(1-precision) && b.Lower <= truth*(1+precision)) {
		t.Errorf("%s: %+v does not enclose %v", what, b, truth)
	}
	if !(b.Error() <= width) {
		t.Errorf("%s: error %v of %+v, want at most %v", what, b.Error(), b, width)
	}
}

var deltas = []float64{1e-3, 1e-5, 1e-7, 1e-10}

func epsilonOf(t *testing.T, d *privacy.Distribution) privacy.Bounds {
	t.Helper()
	b := must[privacy.Bounds](t)(d.Epsilon(t.Context(), 1e-6))
	if upper := must[float64](t)(d.UpperEpsilon(t.Context(), 1e-6)); upper != b.Upper {
		t.Errorf("the upper bound alone is %v, of both %+v", upper, b)
	}
	return b
}

// near compares up to the rounding of sums in another order.
func near(a, b privacy.Bounds) bool {
	return math.Abs(a.Lower-b.Lower) <= 1e-9 && math.Abs(a.Upper-b.Upper) <= 1e-9
}

func TestThen(t *testing.T) {
	a := must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), 20, privacy.Options{}))
	b := must[*privacy.Distribution](t)(privacy.Pure(0.1, privacy.Options{}))
	c := must[*privacy.Distribution](t)(privacy.DiscreteLaplace(0.05, 3, privacy.Options{}))
	then := func(ds ...*privacy.Distribution) *privacy.Distribution {
		d := ds[0]
		for _, next := range ds[1:] {
			d = must[*privacy.Distribution](t)(d.Then(t.Context(), next))
		}
		return d
	}
	forward, backward := epsilonOf(t, then(a, b, c, a)), epsilonOf(t, then(c, a, a, b))
	if !near(forward, backward) {
		t.Errorf("order matters: %+v and %+v", forward, backward)
	}
	for _, d := range []*privacy.Distribution{a, b, c, then(a, b)} {
		four := must[*privacy.Distribution](t)(d.Compose(4))
		if x, y := epsilonOf(t, four), epsilonOf(t, then(d, d, d, d)); !near(x, y) || four.Count() != 4*d.Count() {
			t.Errorf("Compose(4) %+v, four times Then %+v", x, y)
		}
	}
	// Two kinds of Gaussian noise are one with the precisions added.
	e := must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), 15, privacy.Options{}))
	mixed := must[*privacy.Distribution](t)(must[*privacy.Distribution](t)(a.Compose(30)).Then(t.Context(), must[*privacy.Distribution](t)(e.Compose(20))))
	sigma := 1 / math.Sqrt(30.0/400+20.0/225)
	for _, epsilon := range []float64{0.2, 1, 2} {
		truth := gaussianDelta(epsilon, sigma)
		enclose(t, "two Gaussians", must[privacy.Bounds](t)(mixed.Delta(t.Context(), epsilon)), truth, 1e-9, 0.01*truth)
	}
}

func TestErrors(t *testing.T) {
	one := func(d *privacy.Distribution, err error) error { return err }
	d := must[*privacy.Distribution](t)(privacy.Pure(0.1, privacy.Options{}))
	failing := must[*privacy.Distribution](t)(privacy.Approximate(0.1, 1e-3, privacy.Options{}))
	nan, inf := math.NaN(), math.Inf(1)
	curve := func(float64) (float64, error) { return nan, nil }
	bounds := func(_ privacy.Bounds, err error) error { return err }
	totals := func(_, _ float64, err error) error { return err }
	sum := func(_ float64, err error) error { return err }
	for param, errs := range map[string][]error{
		"epsilon": {one(privacy.Pure(-1, privacy.Options{})), one(privacy.Pure(nan, privacy.Options{})), one(privacy.Approximate(inf, 0, privacy.Options{})),
			bounds(d.Delta(t.Context(), -1)), bounds(d.Delta(t.Context(), nan)), bounds(d.Delta(t.Context(), inf)), totals(privacy.BasicComposition(nan, 0, 1))},
		"delta": {one(privacy.Approximate(1, 1, privacy.Options{})), one(privacy.Approximate(1, nan, privacy.Options{})), bounds(d.Epsilon(t.Context(), 0)),
			bounds(d.Epsilon(t.Context(), 1)), bounds(d.Epsilon(t.Context(), nan)), bounds(failing.Epsilon(t.Context(), 1e-3)), sum(d.UpperEpsilon(t.Context(), nan)), sum(failing.UpperEpsilon(t.Context(), 1e-3)), totals(privacy.BasicComposition(1, -1, 1))},
		"sigma":           {one(privacy.Gaussian(t.Context(), 0, privacy.Options{})), one(privacy.Gaussian(t.Context(), nan, privacy.Options{})), one(privacy.Gaussian(t.Context(), inf, privacy.Options{}))},
		"eta":             {one(privacy.DiscreteLaplace(0, 1, privacy.Options{}))},
		"shift":           {one(privacy.DiscreteLaplace(1, 0, privacy.Options{})), one(privacy.DiscreteLaplace(1, 101, privacy.Options{}))},
		"clients":         {one(privacy.Shuffled(t.Context(), 1, 4, 17, 1, privacy.Options{}))},
		"slots":           {one(privacy.Shuffled(t.Context(), 1, 4, 4, 100, privacy.Options{}))},
		"step":            {one(privacy.Pure(1, privacy.Options{Step: -1})), one(privacy.Pure(1, privacy.Options{Step: nan})), one(privacy.Pure(100, privacy.Options{Step: 1e-9}))},
		"tail":            {one(privacy.Pure(1, privacy.Options{Tail: -1})), one(privacy.Pure(1, privacy.Options{Tail: nan}))},
		"curve":           {one(privacy.FromCurve(t.Context(), nil, 1, privacy.Options{})), one(privacy.FromCurve(t.Context(), curve, 1, privacy.Options{}))},
		"maxEpsilon":      {one(privacy.FromCurve(t.Context(), curve, 0, privacy.Options{})), one(privacy.FromCurve(t.Context(), curve, nan, privacy.Options{}))},
		"k":               {one(d.Compose(0)), one(d.Compose(privacy.MaxCount + 1)), totals(privacy.BasicComposition(1, 0, 0))},
		"count":           {one(must[*privacy.Distribution](t)(d.Compose(privacy.MaxCount)).Then(t.Context(), d))},
		"other":           {one(d.Then(t.Context(), nil))},
		"slack":           {totals(privacy.AdvancedComposition(1, 0, 0, 1)), totals(privacy.AdvancedComposition(1, 0, nan, 1))},
		"events":          {one(privacy.Compose(t.Context(), nil, privacy.Options{}))},
		"values[1]":       {sum(privacy.SumUp([]float64{1, -1})), sum(privacy.SumUp([]float64{1, nan})), sum(privacy.SumUp([]float64{1, inf}))},
		"events[0].count": {one(privacy.Compose(t.Context(), []privacy.Event{{Kind: privacy.KindPure, Epsilon: 1}}, privacy.Options{}))},
		"kind":            {one(privacy.Compose(t.Context(), []privacy.Event{{Kind: "other", Count: 1}}, privacy.Options{}))},
		"event":           {one(privacy.Compose(t.Context(), []privacy.Event{{Kind: privacy.KindPure, Epsilon: 1, Sigma: 2, Count: 1}}, privacy.Options{}))},
	} {
		for i, err := range errs {
			var invalid *fl.ParamError
			if !errors.As(err, &invalid) || !strings.HasPrefix(invalid.Param, param) {
				t.Errorf("%s %d: %v", param, i, err)
			}
			if text := fmt.Sprint(err); strings.Count(text, "compose: ") != 1 || !strings.HasPrefix(text, "compose: ") {
				t.Errorf("%s %d: %q has not one prefix", param, i, text)
			}
		}
	}
}

// fuse is a context that is cancelled when it has been asked a number of times.
type fuse struct {
	context.Context
	left atomic.Int64 // the two sides of a distribution ask at the same time
}

func (f *fuse) Err() error {
	if f.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Whenever the context ends, long computations end with its error, and they ask it often.
func TestCancelled(t *testing.T) {
	curve := func(epsilon float64) (float64, error) { return math.Exp(-9 * epsilon), nil }
	a := must[*privacy.Distribution](t)(privacy.FromCurve(t.Context(), curve, 1, privacy.Options{}))
	b := must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), 20, privacy.Options{Step: 1e-4}))
	one := must[*privacy.Distribution](t)(privacy.Pure(0.1, privacy.Options{}))
	ten := must[*privacy.Distribution](t)(one.Compose(10))
	for name, c := range map[string]struct {
		do    func(ctx context.Context) error
		least int // number of times that the context is asked
	}{
		"FromCurve": {func(ctx context.Context) error {
			_, err := privacy.FromCurve(ctx, curve, 1, privacy.Options{Step: 0.01})
			return err
		}, 100},
		"Gaussian": {func(ctx context.Context) error {
			_, err := privacy.Gaussian(ctx, 20, privacy.Options{Step: 0.01})
			return err
		}, 20},
		"Shuffled": {func(ctx context.Context) error {
			_, err := privacy.Shuffled(ctx, 1, 4, 17, 100, privacy.Options{Step: 0.02})
			return err
		}, 50},
		"Compose": {func(ctx context.Context) error {
			_, err := privacy.Compose(ctx, []privacy.Event{{Kind: privacy.KindGaussian, Sigma: 50, Count: 1}}, privacy.Options{Step: 0.01})
			return err
		}, 10},
		"Then":    {func(ctx context.Context) error { _, err := a.Then(ctx, b); return err }, 1000},
		"Epsilon": {func(ctx context.Context) error { _, err := ten.Epsilon(ctx, 1e-6); return err }, 50},
		"Delta":   {func(ctx context.Context) error { _, err := ten.Delta(ctx, 0.3); return err }, 20},
	} {
		for asked := 0; ; asked = asked*5/4 + 1 {
			ctx := &fuse{Context: t.Context()}
			ctx.left.Store(int64(asked))
			err := c.do(ctx)
			if err == nil {
				if asked < c.least {
					t.Errorf("%s: asked the context %d times at most, want %d", name, asked, c.least)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || strings.Count(err.Error(), "compose: ") != 1 {
				t.Fatalf("%s, after %d questions: got error %v, want Canceled", name, asked, err)
			}
		}
	}
}

// No point of a curve is computed after the context has ended.
func TestFromCurveStopsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := privacy.FromCurve(ctx, func(float64) (float64, error) {
		if calls++; calls == 50 {
			cancel()
		}
		return 0.5, nil
	}, 1, privacy.Options{})
	if !errors.Is(err, context.Canceled) || calls != 50 {
		t.Errorf("%d calls, error %v, want 50 and Canceled", calls, err)
	}
}

// BenchmarkThousand discretises and composes 1000 mechanisms, alike or of ten kinds, and reports the error in ε.
func BenchmarkThousand(b *testing.B) {
	for name, one := range map[string]func() (*privacy.Distribution, error){
		"pure":     func() (*privacy.Distribution, error) { return privacy.Pure(0.1, privacy.Options{}) },
		"gaussian": func() (*privacy.Distribution, error) { return privacy.Gaussian(b.Context(), 10, privacy.Options{}) },
		"wide":     func() (*privacy.Distribution, error) { return privacy.Gaussian(b.Context(), 1.5, privacy.Options{}) },
		"mixed": func() (*privacy.Distribution, error) {
			var events []privacy.Event
			for i := range 10 {
				events = append(events, privacy.Event{Kind: privacy.KindGaussian, Sigma: 10 + float64(i), Count: 1})
			}
			return privacy.Compose(b.Context(), events, privacy.Options{})
		},
		"shuffled5": func() (*privacy.Distribution, error) {
			return privacy.Shuffled(b.Context(), 5, 40, 5975, 2000, privacy.Options{})
		},
		"shuffled1": func() (*privacy.Distribution, error) {
			return privacy.Shuffled(b.Context(), 1, 4, 17, 10_000, privacy.Options{})
		},
	} {
		b.Run(name, func(b *testing.B) {
			var bounds privacy.Bounds
			for b.Loop() {
				d := must[*privacy.Distribution](b)(one())
				all := must[*privacy.Distribution](b)(d.Compose(1000 / d.Count()))
				bounds = must[privacy.Bounds](b)(all.Epsilon(b.Context(), 1e-6))
			}
			b.ReportMetric(bounds.Error(), "ε-error")
		})
	}
}

// Of one mechanism that was cut off twice, less is cut off: in both orders.
func TestTheSmallerTailCounts(t *testing.T) {
	coarse := must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), 2, privacy.Options{Tail: 1e-3}))
	fine := must[*privacy.Distribution](t)(privacy.Gaussian(t.Context(), 2, privacy.Options{Tail: 1e-12}))
	if got := coarse.Infinite(); got < 1e-4 || got > 1e-3*(1+1e-9) {
		t.Fatalf("the coarse one cuts off %v", got)
	}
	for _, both := range [][2]*privacy.Distribution{{coarse, fine}, {fine, coarse}} {
		composed := must[*privacy.Distribution](t)(both[0].Then(t.Context(), both[1]))
		if got := composed.Infinite(); got > 2e-12*(1+1e-9) || composed.Count() != 2 {
			t.Errorf("%d mechanisms cut off %v, want 2 and 2e-12 at most", composed.Count(), got)
		}
	}
}
