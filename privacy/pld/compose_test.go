package pld_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/pld"
)

func epsilonOf(t *testing.T, d *pld.Distribution) pld.Bounds {
	t.Helper()
	return must[pld.Bounds](t)(d.Epsilon(1e-6))
}

// near compares up to the rounding of sums in another order.
func near(a, b pld.Bounds) bool {
	return math.Abs(a.Lower-b.Lower) <= 1e-9 && math.Abs(a.Upper-b.Upper) <= 1e-9
}

func TestThen(t *testing.T) {
	a := must[*pld.Distribution](t)(pld.Gaussian(20, pld.Options{}))
	b := must[*pld.Distribution](t)(pld.Pure(0.1, pld.Options{}))
	c := must[*pld.Distribution](t)(pld.DiscreteLaplace(0.05, 3, pld.Options{}))
	then := func(ds ...*pld.Distribution) *pld.Distribution {
		d := ds[0]
		for _, next := range ds[1:] {
			d = must[*pld.Distribution](t)(d.Then(next))
		}
		return d
	}
	forward, backward := epsilonOf(t, then(a, b, c, a)), epsilonOf(t, then(c, a, a, b))
	if !near(forward, backward) {
		t.Errorf("order matters: %+v and %+v", forward, backward)
	}
	for _, d := range []*pld.Distribution{a, b, c, then(a, b)} {
		four := must[*pld.Distribution](t)(d.Compose(4))
		if x, y := epsilonOf(t, four), epsilonOf(t, then(d, d, d, d)); !near(x, y) || four.Count() != 4*d.Count() {
			t.Errorf("Compose(4) %+v, four times Then %+v", x, y)
		}
	}
	// Two kinds of Gaussian noise are one with the precisions added.
	e := must[*pld.Distribution](t)(pld.Gaussian(15, pld.Options{}))
	mixed := must[*pld.Distribution](t)(must[*pld.Distribution](t)(a.Compose(30)).Then(must[*pld.Distribution](t)(e.Compose(20))))
	sigma := 1 / math.Sqrt(30.0/400+20.0/225)
	for _, epsilon := range []float64{0.2, 1, 2} {
		truth := gaussianDelta(epsilon, sigma)
		enclose(t, "two Gaussians", must[pld.Bounds](t)(mixed.Delta(epsilon)), truth, 1e-9, 0.01*truth)
	}
}

func TestEvents(t *testing.T) {
	const ledger = `[{"kind":"pure","epsilon":0.1,"count":3},{"kind":"gaussian","sigma":20,"count":5},
		{"kind":"approximate","epsilon":0.2,"delta":1e-9,"count":1},{"kind":"pure","epsilon":0.1,"count":2},
		{"kind":"discrete-laplace","eta":0.05,"shift":2,"count":4},
		{"kind":"shuffled","epsilon":1,"sparsity":4,"slots":17,"users":200,"count":2}]`
	var events []pld.Event
	if err := json.Unmarshal([]byte(ledger), &events); err != nil {
		t.Fatal(err)
	}
	d := must[*pld.Distribution](t)(pld.Compose(events, pld.Options{}))
	if d.Count() != 17 {
		t.Errorf("%d mechanisms, want 17", d.Count())
	}
	b := epsilonOf(t, d)
	for i, j := 0, len(events)-1; i < j; i, j = i+1, j-1 {
		events[i], events[j] = events[j], events[i]
	}
	if again := epsilonOf(t, must[*pld.Distribution](t)(pld.Compose(events, pld.Options{}))); !near(b, again) {
		t.Errorf("reversed: %+v, want %+v", again, b)
	}
	var sum *pld.Distribution
	for _, one := range []struct {
		d     *pld.Distribution
		count int
	}{
		{must[*pld.Distribution](t)(pld.Pure(0.1, pld.Options{})), 5},
		{must[*pld.Distribution](t)(pld.Gaussian(20, pld.Options{})), 5},
		{must[*pld.Distribution](t)(pld.Approximate(0.2, 1e-9, pld.Options{})), 1},
		{must[*pld.Distribution](t)(pld.DiscreteLaplace(0.05, 2, pld.Options{})), 4},
		{must[*pld.Distribution](t)(pld.Shuffled(1, 4, 17, 200, pld.Options{})), 2},
	} {
		next := must[*pld.Distribution](t)(one.d.Compose(one.count))
		if sum != nil {
			next = must[*pld.Distribution](t)(sum.Then(next))
		}
		sum = next
	}
	if direct := epsilonOf(t, sum); !near(b, direct) {
		t.Errorf("events %+v, by hand %+v", b, direct)
	}
	data := must[[]byte](t)(json.Marshal(pld.Event{Kind: pld.KindGaussian, Sigma: 2, Count: 7}))
	if string(data) != `{"kind":"gaussian","sigma":2,"count":7}` {
		t.Errorf("JSON %s", data)
	}
}

func TestBasicAndAdvanced(t *testing.T) {
	epsilon, delta, err := pld.Basic(0.1, 1e-9, 100)
	if err != nil || math.Abs(epsilon-10) > 1e-12 || epsilon < 10 || math.Abs(delta-1e-7) > 1e-20 {
		t.Errorf("basic: %v %v %v", epsilon, delta, err)
	}
	// 0.1·√(200·log 10^6) + 10·(e^0.1 − 1) = 5.256522 + 1.051709, by hand.
	epsilon, delta, err = pld.Advanced(0.1, 1e-9, 1e-6, 100)
	if err != nil || math.Abs(epsilon-6.308231) > 1e-6 || math.Abs(delta-1.1e-6) > 1e-18 {
		t.Errorf("advanced: %v %v %v", epsilon, delta, err)
	}
}

func TestErrors(t *testing.T) {
	one := func(d *pld.Distribution, err error) error { return err }
	d := must[*pld.Distribution](t)(pld.Pure(0.1, pld.Options{}))
	failing := must[*pld.Distribution](t)(pld.Approximate(0.1, 1e-3, pld.Options{}))
	nan, inf := math.NaN(), math.Inf(1)
	curve := func(float64) (float64, error) { return nan, nil }
	bounds := func(_ pld.Bounds, err error) error { return err }
	totals := func(_, _ float64, err error) error { return err }
	for param, errs := range map[string][]error{
		"epsilon": {one(pld.Pure(-1, pld.Options{})), one(pld.Pure(nan, pld.Options{})), one(pld.Approximate(inf, 0, pld.Options{})),
			bounds(d.Delta(-1)), bounds(d.Delta(nan)), bounds(d.Delta(inf)), totals(pld.Basic(nan, 0, 1))},
		"delta": {one(pld.Approximate(1, 1, pld.Options{})), one(pld.Approximate(1, nan, pld.Options{})), bounds(d.Epsilon(0)),
			bounds(d.Epsilon(1)), bounds(d.Epsilon(nan)), bounds(failing.Epsilon(1e-3)), totals(pld.Basic(1, -1, 1))},
		"sigma":           {one(pld.Gaussian(0, pld.Options{})), one(pld.Gaussian(nan, pld.Options{})), one(pld.Gaussian(inf, pld.Options{}))},
		"eta":             {one(pld.DiscreteLaplace(0, 1, pld.Options{}))},
		"shift":           {one(pld.DiscreteLaplace(1, 0, pld.Options{})), one(pld.DiscreteLaplace(1, 101, pld.Options{}))},
		"users":           {one(pld.Shuffled(1, 4, 17, 1, pld.Options{}))},
		"slots":           {one(pld.Shuffled(1, 4, 4, 100, pld.Options{}))},
		"step":            {one(pld.Pure(1, pld.Options{Step: -1})), one(pld.Pure(1, pld.Options{Step: nan})), one(pld.Pure(100, pld.Options{Step: 1e-9}))},
		"tail":            {one(pld.Pure(1, pld.Options{Tail: -1})), one(pld.Pure(1, pld.Options{Tail: nan}))},
		"curve":           {one(pld.FromCurve(nil, 1, pld.Options{})), one(pld.FromCurve(curve, 1, pld.Options{}))},
		"maxEpsilon":      {one(pld.FromCurve(curve, 0, pld.Options{})), one(pld.FromCurve(curve, nan, pld.Options{}))},
		"k":               {one(d.Compose(0)), one(d.Compose(pld.MaxCount + 1)), totals(pld.Basic(1, 0, 0))},
		"other":           {one(d.Then(nil))},
		"slack":           {totals(pld.Advanced(1, 0, 0, 1)), totals(pld.Advanced(1, 0, nan, 1))},
		"events":          {one(pld.Compose(nil, pld.Options{}))},
		"events[0].count": {one(pld.Compose([]pld.Event{{Kind: pld.KindPure, Epsilon: 1}}, pld.Options{}))},
		"kind":            {one(pld.Compose([]pld.Event{{Kind: "other", Count: 1}}, pld.Options{}))},
		"event":           {one(pld.Compose([]pld.Event{{Kind: pld.KindPure, Epsilon: 1, Sigma: 2, Count: 1}}, pld.Options{}))},
	} {
		for i, err := range errs {
			if err == nil || !strings.HasPrefix(err.Error(), "pld: ") || !strings.Contains(err.Error(), param) {
				t.Errorf("%s %d: %v", param, i, err)
			}
			var invalid *fl.ParamError
			if param != "slots" && !errors.As(err, &invalid) {
				t.Errorf("%s %d: %T is no ParamError", param, i, err)
			}
		}
	}
}
