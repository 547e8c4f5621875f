package compose_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/compose"
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
func enclose(t *testing.T, what string, b compose.Bounds, truth, precision, width float64) {
	t.Helper()
	if !(b.Upper >= truth*(1-precision) && b.Lower <= truth*(1+precision)) {
		t.Errorf("%s: %+v does not enclose %v", what, b, truth)
	}
	if !(b.Error() <= width) {
		t.Errorf("%s: error %v of %+v, want at most %v", what, b.Error(), b, width)
	}
}

var deltas = []float64{1e-3, 1e-5, 1e-7, 1e-10}

func epsilonOf(t *testing.T, d *compose.Distribution) compose.Bounds {
	t.Helper()
	return must[compose.Bounds](t)(d.Epsilon(t.Context(), 1e-6))
}

// near compares up to the rounding of sums in another order.
func near(a, b compose.Bounds) bool {
	return math.Abs(a.Lower-b.Lower) <= 1e-9 && math.Abs(a.Upper-b.Upper) <= 1e-9
}

func TestThen(t *testing.T) {
	a := must[*compose.Distribution](t)(compose.Gaussian(t.Context(), 20, compose.Options{}))
	b := must[*compose.Distribution](t)(compose.Pure(0.1, compose.Options{}))
	c := must[*compose.Distribution](t)(compose.DiscreteLaplace(0.05, 3, compose.Options{}))
	then := func(ds ...*compose.Distribution) *compose.Distribution {
		d := ds[0]
		for _, next := range ds[1:] {
			d = must[*compose.Distribution](t)(d.Then(t.Context(), next))
		}
		return d
	}
	forward, backward := epsilonOf(t, then(a, b, c, a)), epsilonOf(t, then(c, a, a, b))
	if !near(forward, backward) {
		t.Errorf("order matters: %+v and %+v", forward, backward)
	}
	for _, d := range []*compose.Distribution{a, b, c, then(a, b)} {
		four := must[*compose.Distribution](t)(d.Compose(4))
		if x, y := epsilonOf(t, four), epsilonOf(t, then(d, d, d, d)); !near(x, y) || four.Count() != 4*d.Count() {
			t.Errorf("Compose(4) %+v, four times Then %+v", x, y)
		}
	}
	// Two kinds of Gaussian noise are one with the precisions added.
	e := must[*compose.Distribution](t)(compose.Gaussian(t.Context(), 15, compose.Options{}))
	mixed := must[*compose.Distribution](t)(must[*compose.Distribution](t)(a.Compose(30)).Then(t.Context(), must[*compose.Distribution](t)(e.Compose(20))))
	sigma := 1 / math.Sqrt(30.0/400+20.0/225)
	for _, epsilon := range []float64{0.2, 1, 2} {
		truth := gaussianDelta(epsilon, sigma)
		enclose(t, "two Gaussians", must[compose.Bounds](t)(mixed.Delta(t.Context(), epsilon)), truth, 1e-9, 0.01*truth)
	}
}

func TestErrors(t *testing.T) {
	one := func(d *compose.Distribution, err error) error { return err }
	d := must[*compose.Distribution](t)(compose.Pure(0.1, compose.Options{}))
	failing := must[*compose.Distribution](t)(compose.Approximate(0.1, 1e-3, compose.Options{}))
	nan, inf := math.NaN(), math.Inf(1)
	curve := func(float64) (float64, error) { return nan, nil }
	bounds := func(_ compose.Bounds, err error) error { return err }
	totals := func(_, _ float64, err error) error { return err }
	sum := func(_ float64, err error) error { return err }
	for param, errs := range map[string][]error{
		"epsilon": {one(compose.Pure(-1, compose.Options{})), one(compose.Pure(nan, compose.Options{})), one(compose.Approximate(inf, 0, compose.Options{})),
			bounds(d.Delta(t.Context(), -1)), bounds(d.Delta(t.Context(), nan)), bounds(d.Delta(t.Context(), inf)), totals(compose.Basic(nan, 0, 1))},
		"delta": {one(compose.Approximate(1, 1, compose.Options{})), one(compose.Approximate(1, nan, compose.Options{})), bounds(d.Epsilon(t.Context(), 0)),
			bounds(d.Epsilon(t.Context(), 1)), bounds(d.Epsilon(t.Context(), nan)), bounds(failing.Epsilon(t.Context(), 1e-3)), totals(compose.Basic(1, -1, 1))},
		"sigma":           {one(compose.Gaussian(t.Context(), 0, compose.Options{})), one(compose.Gaussian(t.Context(), nan, compose.Options{})), one(compose.Gaussian(t.Context(), inf, compose.Options{}))},
		"eta":             {one(compose.DiscreteLaplace(0, 1, compose.Options{}))},
		"shift":           {one(compose.DiscreteLaplace(1, 0, compose.Options{})), one(compose.DiscreteLaplace(1, 101, compose.Options{}))},
		"clients":         {one(compose.Shuffled(t.Context(), 1, 4, 17, 1, compose.Options{}))},
		"slots":           {one(compose.Shuffled(t.Context(), 1, 4, 4, 100, compose.Options{}))},
		"step":            {one(compose.Pure(1, compose.Options{Step: -1})), one(compose.Pure(1, compose.Options{Step: nan})), one(compose.Pure(100, compose.Options{Step: 1e-9}))},
		"tail":            {one(compose.Pure(1, compose.Options{Tail: -1})), one(compose.Pure(1, compose.Options{Tail: nan}))},
		"curve":           {one(compose.FromCurve(t.Context(), nil, 1, compose.Options{})), one(compose.FromCurve(t.Context(), curve, 1, compose.Options{}))},
		"maxEpsilon":      {one(compose.FromCurve(t.Context(), curve, 0, compose.Options{})), one(compose.FromCurve(t.Context(), curve, nan, compose.Options{}))},
		"k":               {one(d.Compose(0)), one(d.Compose(compose.MaxCount + 1)), totals(compose.Basic(1, 0, 0))},
		"count":           {one(must[*compose.Distribution](t)(d.Compose(compose.MaxCount)).Then(t.Context(), d))},
		"other":           {one(d.Then(t.Context(), nil))},
		"slack":           {totals(compose.Advanced(1, 0, 0, 1)), totals(compose.Advanced(1, 0, nan, 1))},
		"events":          {one(compose.Compose(t.Context(), nil, compose.Options{}))},
		"values[1]":       {sum(compose.SumUp([]float64{1, -1})), sum(compose.SumUp([]float64{1, nan})), sum(compose.SumUp([]float64{1, inf}))},
		"events[0].count": {one(compose.Compose(t.Context(), []compose.Event{{Kind: compose.KindPure, Epsilon: 1}}, compose.Options{}))},
		"kind":            {one(compose.Compose(t.Context(), []compose.Event{{Kind: "other", Count: 1}}, compose.Options{}))},
		"event":           {one(compose.Compose(t.Context(), []compose.Event{{Kind: compose.KindPure, Epsilon: 1, Sigma: 2, Count: 1}}, compose.Options{}))},
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
	a := must[*compose.Distribution](t)(compose.FromCurve(t.Context(), curve, 1, compose.Options{}))
	b := must[*compose.Distribution](t)(compose.Gaussian(t.Context(), 20, compose.Options{Step: 1e-4}))
	one := must[*compose.Distribution](t)(compose.Pure(0.1, compose.Options{}))
	ten := must[*compose.Distribution](t)(one.Compose(10))
	for name, c := range map[string]struct {
		do    func(ctx context.Context) error
		least int // number of times that the context is asked
	}{
		"FromCurve": {func(ctx context.Context) error {
			_, err := compose.FromCurve(ctx, curve, 1, compose.Options{Step: 0.01})
			return err
		}, 100},
		"Gaussian": {func(ctx context.Context) error {
			_, err := compose.Gaussian(ctx, 20, compose.Options{Step: 0.01})
			return err
		}, 20},
		"Shuffled": {func(ctx context.Context) error {
			_, err := compose.Shuffled(ctx, 1, 4, 17, 100, compose.Options{Step: 0.02})
			return err
		}, 50},
		"Compose": {func(ctx context.Context) error {
			_, err := compose.Compose(ctx, []compose.Event{{Kind: compose.KindGaussian, Sigma: 50, Count: 1}}, compose.Options{Step: 0.01})
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
	_, err := compose.FromCurve(ctx, func(float64) (float64, error) {
		if calls++; calls == 50 {
			cancel()
		}
		return 0.5, nil
	}, 1, compose.Options{})
	if !errors.Is(err, context.Canceled) || calls != 50 {
		t.Errorf("%d calls, error %v, want 50 and Canceled", calls, err)
	}
}

// BenchmarkThousand discretises and composes 1000 mechanisms, alike or of ten kinds, and reports the error in ε.
func BenchmarkThousand(b *testing.B) {
	for name, one := range map[string]func() (*compose.Distribution, error){
		"pure":     func() (*compose.Distribution, error) { return compose.Pure(0.1, compose.Options{}) },
		"gaussian": func() (*compose.Distribution, error) { return compose.Gaussian(b.Context(), 10, compose.Options{}) },
		"wide":     func() (*compose.Distribution, error) { return compose.Gaussian(b.Context(), 1.5, compose.Options{}) },
		"mixed": func() (*compose.Distribution, error) {
			var events []compose.Event
			for i := range 10 {
				events = append(events, compose.Event{Kind: compose.KindGaussian, Sigma: 10 + float64(i), Count: 1})
			}
			return compose.Compose(b.Context(), events, compose.Options{})
		},
		"shuffled5": func() (*compose.Distribution, error) {
			return compose.Shuffled(b.Context(), 5, 40, 5975, 2000, compose.Options{})
		},
		"shuffled1": func() (*compose.Distribution, error) {
			return compose.Shuffled(b.Context(), 1, 4, 17, 10_000, compose.Options{})
		},
	} {
		b.Run(name, func(b *testing.B) {
			var bounds compose.Bounds
			for b.Loop() {
				d := must[*compose.Distribution](b)(one())
				all := must[*compose.Distribution](b)(d.Compose(1000 / d.Count()))
				bounds = must[compose.Bounds](b)(all.Epsilon(b.Context(), 1e-6))
			}
			b.ReportMetric(bounds.Error(), "ε-error")
		})
	}
}

// Of one mechanism that was cut off twice, less is cut off: in both orders.
func TestTheSmallerTailCounts(t *testing.T) {
	coarse := must[*compose.Distribution](t)(compose.Gaussian(t.Context(), 2, compose.Options{Tail: 1e-3}))
	fine := must[*compose.Distribution](t)(compose.Gaussian(t.Context(), 2, compose.Options{Tail: 1e-12}))
	if got := coarse.Infinite(); got < 1e-4 || got > 1e-3*(1+1e-9) {
		t.Fatalf("the coarse one cuts off %v", got)
	}
	for _, both := range [][2]*compose.Distribution{{coarse, fine}, {fine, coarse}} {
		composed := must[*compose.Distribution](t)(both[0].Then(t.Context(), both[1]))
		if got := composed.Infinite(); got > 2e-12*(1+1e-9) || composed.Count() != 2 {
			t.Errorf("%d mechanisms cut off %v, want 2 and 2e-12 at most", composed.Count(), got)
		}
	}
}
