package compose_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

func epsilonOf(t *testing.T, d *compose.Distribution) compose.Bounds {
	t.Helper()
	return must[compose.Bounds](t)(d.Epsilon(1e-6))
}

// near compares up to the rounding of sums in another order.
func near(a, b compose.Bounds) bool {
	return math.Abs(a.Lower-b.Lower) <= 1e-9 && math.Abs(a.Upper-b.Upper) <= 1e-9
}

func TestThen(t *testing.T) {
	a := must[*compose.Distribution](t)(compose.Gaussian(20, compose.Options{}))
	b := must[*compose.Distribution](t)(compose.Pure(0.1, compose.Options{}))
	c := must[*compose.Distribution](t)(compose.DiscreteLaplace(0.05, 3, compose.Options{}))
	then := func(ds ...*compose.Distribution) *compose.Distribution {
		d := ds[0]
		for _, next := range ds[1:] {
			d = must[*compose.Distribution](t)(d.Then(next))
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
	e := must[*compose.Distribution](t)(compose.Gaussian(15, compose.Options{}))
	mixed := must[*compose.Distribution](t)(must[*compose.Distribution](t)(a.Compose(30)).Then(must[*compose.Distribution](t)(e.Compose(20))))
	sigma := 1 / math.Sqrt(30.0/400+20.0/225)
	for _, epsilon := range []float64{0.2, 1, 2} {
		truth := gaussianDelta(epsilon, sigma)
		enclose(t, "two Gaussians", must[compose.Bounds](t)(mixed.Delta(epsilon)), truth, 1e-9, 0.01*truth)
	}
}

func TestEvents(t *testing.T) {
	const ledger = `[{"kind":"pure","epsilon":0.1,"count":3},{"kind":"gaussian","sigma":20,"count":5},
		{"kind":"approximate","epsilon":0.2,"delta":1e-9,"count":1},{"kind":"pure","epsilon":0.1,"count":2},
		{"kind":"discrete-laplace","eta":0.05,"shift":2,"count":4},
		{"kind":"shuffled","epsilon":1,"sparsity":4,"slots":17,"users":200,"count":2}]`
	var events []compose.Event
	if err := json.Unmarshal([]byte(ledger), &events); err != nil {
		t.Fatal(err)
	}
	d := must[*compose.Distribution](t)(compose.Compose(events, compose.Options{}))
	if d.Count() != 17 {
		t.Errorf("%d mechanisms, want 17", d.Count())
	}
	b := epsilonOf(t, d)
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	if again := epsilonOf(t, must[*compose.Distribution](t)(compose.Compose(events, compose.Options{}))); !near(b, again) {
		t.Errorf("reversed: %+v, want %+v", again, b)
	}
	var sum *compose.Distribution
	for _, one := range []struct {
		d     *compose.Distribution
		count int
	}{
		{must[*compose.Distribution](t)(compose.Pure(0.1, compose.Options{})), 5},
		{must[*compose.Distribution](t)(compose.Gaussian(20, compose.Options{})), 5},
		{must[*compose.Distribution](t)(compose.Approximate(0.2, 1e-9, compose.Options{})), 1},
		{must[*compose.Distribution](t)(compose.DiscreteLaplace(0.05, 2, compose.Options{})), 4},
		{must[*compose.Distribution](t)(compose.Shuffled(1, 4, 17, 200, compose.Options{})), 2},
	} {
		next := must[*compose.Distribution](t)(one.d.Compose(one.count))
		if sum != nil {
			next = must[*compose.Distribution](t)(sum.Then(next))
		}
		sum = next
	}
	if direct := epsilonOf(t, sum); !near(b, direct) {
		t.Errorf("events %+v, by hand %+v", b, direct)
	}
	data := must[[]byte](t)(json.Marshal(compose.Event{Kind: compose.KindGaussian, Sigma: 2, Count: 7}))
	if string(data) != `{"kind":"gaussian","sigma":2,"count":7}` {
		t.Errorf("JSON %s", data)
	}
}

func TestBasicAndAdvanced(t *testing.T) {
	epsilon, delta, err := compose.Basic(0.1, 1e-9, 100)
	if err != nil || math.Abs(epsilon-10) > 1e-12 || epsilon < 10 || math.Abs(delta-1e-7) > 1e-20 {
		t.Errorf("basic: %v %v %v", epsilon, delta, err)
	}
	// 0.1·√(200·log 10^6) + 10·(e^0.1 − 1) = 5.256522 + 1.051709, by hand.
	epsilon, delta, err = compose.Advanced(0.1, 1e-9, 1e-6, 100)
	if err != nil || math.Abs(epsilon-6.308231) > 1e-6 || math.Abs(delta-1.1e-6) > 1e-18 {
		t.Errorf("advanced: %v %v %v", epsilon, delta, err)
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
	for param, errs := range map[string][]error{
		"epsilon": {one(compose.Pure(-1, compose.Options{})), one(compose.Pure(nan, compose.Options{})), one(compose.Approximate(inf, 0, compose.Options{})),
			bounds(d.Delta(-1)), bounds(d.Delta(nan)), bounds(d.Delta(inf)), totals(compose.Basic(nan, 0, 1))},
		"delta": {one(compose.Approximate(1, 1, compose.Options{})), one(compose.Approximate(1, nan, compose.Options{})), bounds(d.Epsilon(0)),
			bounds(d.Epsilon(1)), bounds(d.Epsilon(nan)), bounds(failing.Epsilon(1e-3)), totals(compose.Basic(1, -1, 1))},
		"sigma":           {one(compose.Gaussian(0, compose.Options{})), one(compose.Gaussian(nan, compose.Options{})), one(compose.Gaussian(inf, compose.Options{}))},
		"eta":             {one(compose.DiscreteLaplace(0, 1, compose.Options{}))},
		"shift":           {one(compose.DiscreteLaplace(1, 0, compose.Options{})), one(compose.DiscreteLaplace(1, 101, compose.Options{}))},
		"users":           {one(compose.Shuffled(1, 4, 17, 1, compose.Options{}))},
		"slots":           {one(compose.Shuffled(1, 4, 4, 100, compose.Options{}))},
		"step":            {one(compose.Pure(1, compose.Options{Step: -1})), one(compose.Pure(1, compose.Options{Step: nan})), one(compose.Pure(100, compose.Options{Step: 1e-9}))},
		"tail":            {one(compose.Pure(1, compose.Options{Tail: -1})), one(compose.Pure(1, compose.Options{Tail: nan}))},
		"curve":           {one(compose.FromCurve(nil, 1, compose.Options{})), one(compose.FromCurve(curve, 1, compose.Options{}))},
		"maxEpsilon":      {one(compose.FromCurve(curve, 0, compose.Options{})), one(compose.FromCurve(curve, nan, compose.Options{}))},
		"k":               {one(d.Compose(0)), one(d.Compose(compose.MaxCount + 1)), totals(compose.Basic(1, 0, 0))},
		"other":           {one(d.Then(nil))},
		"slack":           {totals(compose.Advanced(1, 0, 0, 1)), totals(compose.Advanced(1, 0, nan, 1))},
		"events":          {one(compose.Compose(nil, compose.Options{}))},
		"events[0].count": {one(compose.Compose([]compose.Event{{Kind: compose.KindPure, Epsilon: 1}}, compose.Options{}))},
		"kind":            {one(compose.Compose([]compose.Event{{Kind: "other", Count: 1}}, compose.Options{}))},
		"event":           {one(compose.Compose([]compose.Event{{Kind: compose.KindPure, Epsilon: 1, Sigma: 2, Count: 1}}, compose.Options{}))},
	} {
		for i, err := range errs {
			if err == nil || !strings.HasPrefix(err.Error(), "compose: ") || !strings.Contains(err.Error(), param) {
				t.Errorf("%s %d: %v", param, i, err)
			}
			var invalid *fl.ParamError
			if param != "slots" && !errors.As(err, &invalid) {
				t.Errorf("%s %d: %T is no ParamError", param, i, err)
			}
		}
	}
}
