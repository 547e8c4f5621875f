package verify_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/hdsum"
	_ "github.com/hushgrad/hushgrad/mechanisms" // and with it coco, collision and signsketch
	"github.com/hushgrad/hushgrad/privacy/verify"
)

func seeded() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

// round is a local round; slots 0 leaves slots and hash family open.
func round(mechanism string, dim, sparsity, slots int, hash string, epsilon float64) fl.Round {
	r := fl.Round{
		ID: "r", Mechanism: mechanism, Dim: dim, Scale: 0.5, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1,
		Params: fl.Params{"sparsity": fl.Int(sparsity)}, PublicSeed: [32]byte{1},
	}
	if slots > 0 {
		r.Params = r.Params.With("slots", fl.Int(slots)).With("hash", fl.Text(hash))
	}
	return r
}

func check(t *testing.T, r fl.Round, o verify.Options) *verify.Report {
	t.Helper()
	if o.Rand == nil {
		o.Rand = seeded()
	}
	report, err := verify.Round(t.Context(), r, o)
	if err != nil {
		t.Fatalf("%s: %v", r.Mechanism, err)
	}
	return report
}

func TestWhatCannotBeChecked(t *testing.T) {
	none := round("none", 3, 1, 0, "", math.Inf(1))
	none.Params = nil
	good := round("collision", 3, 1, 4, "gf2", 1)
	lonely := sumRound(2)
	lonely.MinReports = 1 << 24
	for name, c := range map[string]struct {
		round   fl.Round
		options verify.Options
		param   string
	}{
		"no privacy":           {none, verify.Options{}, "mechanism"},
		"unknown mechanism":    {round("colision", 3, 1, 4, "gf2", 1), verify.Options{}, "mechanism"},
		"bad parameter":        {round("collision", 3, 1, 5, "gf2", 1), verify.Options{}, "slots"},
		"method":               {good, verify.Options{Method: "guess"}, "method"},
		"exact, too large":     {round("collision", 300, 8, 32, "gf2", 1), verify.Options{Method: verify.Exact}, "method"},
		"exact, shuffle model": {sumRound(2), verify.Options{Method: verify.Exact}, "method"},
		"too many sequences":   {good, verify.Options{Method: verify.Exact, Limit: 8*200 + 1}, "method"},
		"seeds":                {good, verify.Options{Seeds: -1}, "seeds"},
		"limit":                {good, verify.Options{Limit: -1}, "limit"},
		"limit above":          {good, verify.Options{Limit: 1<<32 + 1}, "limit"},
		"samples":              {good, verify.Options{Samples: 99}, "samples"},
		"samples above":        {good, verify.Options{Samples: 10_000_001}, "samples"},
		"confidence":           {good, verify.Options{Confidence: 1}, "confidence"},
		"confidence NaN":       {good, verify.Options{Confidence: math.NaN()}, "confidence"},
		"rounds beyond reach":  {lonely, verify.Options{}, "min_reports"},
		"samples beyond reach": {lonely, verify.Options{Samples: 1000}, "min_reports"},
	} {
		var p *fl.ParamError
		if report, err := verify.Round(t.Context(), c.round, c.options); !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: %+v, %v, want a ParamError for %s", name, report, err, c.param)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, method := range []verify.Method{verify.Exact, verify.Statistical} {
		if _, err := verify.Round(ctx, round("collision", 3, 1, 4, "gf2", 1), verify.Options{Method: method}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want Canceled", method, err)
		}
	}
}

// interrupted ends its context in a call of one of its methods.
type interrupted struct {
	verify.Enumerable
	choosing, ternary, encoded int64 // in which call of the method; 0: in none
	calls                      *[3]atomic.Int64
	end                        context.CancelFunc
}

func (m interrupted) count(method int, last int64) {
	if m.calls[method].Add(1) == last {
		m.end()
	}
}

func (m interrupted) EncodeChoosing(dst []byte, x fl.Ternary, seed uint32, choose verify.Chooser) ([]byte, error) {
	m.count(0, m.choosing)
	return m.Enumerable.EncodeChoosing(dst, x, seed, choose)
}

func (m interrupted) EncodeTernary(dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
	m.count(1, m.ternary)
	return m.Enumerable.EncodeTernary(dst, x, rng)
}

func (m interrupted) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	m.count(2, m.encoded)
	return m.Enumerable.Encode(dst, grad, rng)
}

// A check ends soon after its context, in whichever part it is.
func TestInterrupted(t *testing.T) {
	r := round("collision", 3, 1, 4096, "ideal", 1)
	opened, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options verify.Options
		at      interrupted
		most    [3]int64 // calls in all
	}{
		// A law has 4096 sequences of choices and more.
		"within a law": {verify.Options{Method: verify.Exact, Seeds: 1}, interrupted{choosing: 1}, [3]int64{1024, 0, 0}},
		// Each of the 8 inputs is replayed four times.
		"replaying": {verify.Options{Method: verify.Exact, Seeds: 1}, interrupted{ternary: 1}, [3]int64{math.MaxInt64, 4, 0}},
		// One report to see how, and 100 for each of 8 gradients: what is left is to judge them.
		"judging": {verify.Options{Method: verify.Statistical, Samples: 100}, interrupted{encoded: 801}, [3]int64{0, math.MaxInt64, 801}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		m := c.at
		m.Enumerable, m.calls, m.end = opened.(verify.Enumerable), &[3]atomic.Int64{}, cancel
		c.options.Rand = seeded()
		if report, err := verify.Mechanism(ctx, m, r, c.options); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %+v, %v, want Canceled", name, report, err)
		}
		for method, most := range c.most {
			if got := m.calls[method].Load(); got > most {
				t.Errorf("%s: %d calls of method %d, want at most %d", name, got, method, most)
			}
		}
		cancel()
	}
}

func TestIncompleteRoundsAreCompleted(t *testing.T) {
	r := round("auto", 3, 1, 0, "", 1)
	r.PublicSeed, r.Relation = [32]byte{}, 0
	report := check(t, r, verify.Options{Seeds: 10})
	if !report.Holds || report.Mechanism == "auto" || len(report.Notes) != 3 {
		t.Errorf("%+v", report)
	}
}

// A promise for real numbers only is broken, even where the code keeps ε.
func TestAProofForRealNumbersIsAFault(t *testing.T) {
	r := round("coco", 2, 1, 4, "ideal", 1)
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	g := m.Guarantee()
	g.RealNumbers = true
	report, err := verify.Mechanism(t.Context(), promised{m.(verify.Enumerable), g}, r, verify.Options{Seeds: 2, Rand: seeded()})
	if err != nil {
		t.Fatal(err)
	}
	if report.Holds || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], "real numbers") || !strings.Contains(report.Promise, "real numbers") {
		t.Errorf("%+v, want the fault of a proof about real numbers", report)
	}
}

// promised is a mechanism with another guarantee.
type promised struct {
	verify.Enumerable
	guarantee fl.Guarantee
}

func (p promised) Guarantee() fl.Guarantee { return p.guarantee }

// The law of one report says nothing about a promise that rests on other clients, and a largest ratio says
// nothing about a δ: the exact method leaves both to the statistical one.
func TestOnlyPureLocalPromisesAreEnumerated(t *testing.T) {
	r := round("coco", 2, 1, 4, "ideal", 1)
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Delta = 0.1
	for name, c := range map[string]struct {
		guarantee fl.Guarantee
		exact     bool
	}{
		"local":    {fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne}, true},
		"with a δ": {fl.Guarantee{Trust: fl.Local, Epsilon: 1, Delta: 0.1, Relation: fl.ReplaceOne}, false},
		"shuffled": {fl.Guarantee{Trust: fl.Shuffle, Epsilon: 1, Relation: fl.ReplaceOne}, false},
	} {
		claims := promised{m.(verify.Enumerable), c.guarantee}
		report, err := verify.Mechanism(t.Context(), claims, r, verify.Options{Method: verify.Exact, Seeds: 2, Rand: seeded()})
		var p *fl.ParamError
		switch {
		case c.exact && (err != nil || report.Method != verify.Exact):
			t.Errorf("%s: %+v, %v, want an exact check", name, report, err)
		case !c.exact && (!errors.As(err, &p) || p.Param != "method"):
			t.Errorf("%s: %+v, %v, want a ParamError for method", name, report, err)
		}
	}
}

// short is a mechanism whose Encode sends less than a seed.
type short struct{ verify.Enumerable }

func (short) Encode(dst []byte, _ []float64, _ *rand.Rand) ([]byte, error) {
	return append(dst, 1, 2, 3), nil
}

func TestReportsWithoutASeedAreFaults(t *testing.T) {
	r := round("coco", 2, 1, 4, "ideal", 1)
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	report, err := verify.Mechanism(t.Context(), short{m.(verify.Enumerable)}, r, verify.Options{Method: verify.Exact, Seeds: 2, Rand: seeded()})
	if err != nil || report.Holds || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], "Encode sends 010203, must start with a seed") {
		t.Errorf("%+v, %v, want one fault", report, err)
	}
}

// A mechanism that itself promises less than its round is at fault, whatever its reports reveal.
func TestGuaranteesBelowTheRoundAreFaults(t *testing.T) {
	r := round("coco", 2, 1, 4, "ideal", 1)
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		guarantee fl.Guarantee
		fault     bool
	}{
		"the same":   {fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne}, false},
		"larger ε":   {fl.Guarantee{Trust: fl.Local, Epsilon: 1.01, Relation: fl.ReplaceOne}, true},
		"larger δ":   {fl.Guarantee{Trust: fl.Local, Epsilon: 1, Delta: 1e-9, Relation: fl.ReplaceOne}, true},
		"a relation": {fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ZeroOut}, true},
	} {
		report, err := verify.Mechanism(t.Context(), promised{m.(verify.Enumerable), c.guarantee}, r, verify.Options{Seeds: 2, Samples: 200, Rand: seeded()})
		if err != nil {
			t.Fatal(err)
		}
		if found := strings.Contains(strings.Join(report.Faults, "\n"), "which is weaker than the round's"); found != c.fault || report.Holds == c.fault || report.EpsilonPromised != 1 {
			t.Errorf("%s: %+v, want a fault: %v", name, report, c.fault)
		}
	}
}

// lenient is a mechanism that encodes one kind of number that it should refuse.
type lenient struct {
	verify.Enumerable
	takes func(j int, g float64) bool
}

func (l lenient) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	grad = slices.Clone(grad)
	for j, g := range grad {
		if l.takes(j, g) {
			grad[j] = 0
		}
	}
	return l.Enumerable.Encode(dst, grad, rng)
}

func TestEncodedNonsenseIsAFault(t *testing.T) {
	r := round("coco", 2, 1, 4, "ideal", 1)
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, takes := range map[string]func(int, float64) bool{
		"NaN":  func(j int, g float64) bool { return j > 0 && math.IsNaN(g) }, // a mechanism that looks at the first coordinate
		"+Inf": func(_ int, g float64) bool { return math.IsInf(g, 1) },
		"-Inf": func(_ int, g float64) bool { return math.IsInf(g, -1) },
	} {
		report, err := verify.Mechanism(t.Context(), lenient{m.(verify.Enumerable), takes}, r, verify.Options{Method: verify.Exact, Seeds: 2, Rand: seeded()})
		if err != nil {
			t.Fatal(err)
		}
		if want := "a coordinate " + name + " was encoded"; report.Holds || !strings.Contains(strings.Join(report.Faults, "\n"), want) {
			t.Errorf("%s: %+v, want a fault with %q", name, report, want)
		}
	}
}
