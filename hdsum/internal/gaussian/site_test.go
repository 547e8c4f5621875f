package gaussian

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// siteRound leaves every parameter open.
func siteRound(dim int) fl.Round {
	r := testRound(dim)
	r.Mechanism = SiteName
	return r
}

func openSite(t testing.TB, r fl.Round) *site {
	t.Helper()
	_, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*site)
}

func TestSitesKeepTheContract(t *testing.T) {
	for _, dim := range []int{1, 3, 20} {
		r, _, err := fl.Complete(siteRound(dim))
		if err != nil {
			t.Fatal(err)
		}
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("dim %d: %v", dim, err)
		}
	}
}

func TestTheGuaranteeOfASiteIsLocal(t *testing.T) {
	s := openSite(t, siteRound(5))
	two := open(t, testRound(5)).Guarantee()
	if want := (fl.Guarantee{Trust: fl.Local, Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne, Sigma: two.Sigma}); s.Guarantee() != want {
		t.Errorf("%+v, want %+v", s.Guarantee(), want)
	}
	for param, change := range map[string]func(*fl.Round){
		"relation": func(r *fl.Round) { r.Relation = fl.ZeroOut }, "delta": func(r *fl.Round) { r.Delta = 0 },
		"epsilon": func(r *fl.Round) { r.Epsilon = math.Inf(1) }, "params": func(r *fl.Round) { r.Params = fl.Params{"levels": fl.Int(1)} },
	} {
		r := siteRound(5)
		change(&r)
		if _, err := fl.Open(r); !isParam(err, param) {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// A report is the rounded gradient and the whole noise of a server: 64 coordinates of 400 reports of the zero vector, in 20 cells
// of a probability of 1/20 each.
func TestASiteAddsTheWholeNoise(t *testing.T) {
	s := openSite(t, siteRound(64))
	law := distuv.Normal{Sigma: s.noise.sigma}
	counts, expected, rng := make([]float64, 20), make([]float64, 20), newRand(21)
	const reports = 400
	for i := range expected {
		expected[i] = reports * 64 / 20
	}
	zero := make([]float64, 64)
	for range reports {
		report, err := s.Encode(nil, zero, rng)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 64 {
			counts[min(19, int(20*law.CDF(float64(s.ring.signed(s.ring.at(report, i)))+0.5)))]++
		}
	}
	requireCounts(t, "noise", counts, expected)
	if want := open(t, testRound(64)).noise.sigma; s.noise.sigma != want {
		t.Errorf("σ = %g, a server has %g", s.noise.sigma, want)
	}
}

// Three sites with 5, 1 and 30 records, and each one's noise: the mean is over 36 records. 20 normal variables are all
// within 6 standard errors but with probability 4e-8.
func TestTheMeanOfSitesIsOverRecords(t *testing.T) {
	r := siteRound(20)
	r.Params = fl.Params{fl.ParamRecords: fl.Int(40)}
	s := openSite(t, r)
	a, want := s.NewAggregator(), make([]float64, 20)
	for i, records := range []int{5, 1, 30} {
		grad := make([]float64, 20)
		grad[i] = 1
		want[i] = float64(records) / 36
		if err := a.Add(reportOf(t, s, byte(60+i), records, grad)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.Estimate()
	if err != nil || e.Records != 36 || e.Reports != 3 {
		t.Fatalf("%+v, %v", e, err)
	}
	variance := (3*s.noise.variance() + 36./4) / 36 / 36 // of integers
	for j, v := range e.Mean().Value {
		if se := e.Mean().StdErr[j]; !(math.Abs(v-want[j]) <= 6*se) || math.Abs(se/s.integers.deviation(variance)-1) > 1e-9 {
			t.Errorf("coordinate %d: %g ± %g, want %g ± %g", j, v, se, want[j], s.integers.deviation(variance))
		}
	}
	restored := s.NewAggregator()
	if err := restored.UnmarshalBinary(marshalled(t, a)); err != nil {
		t.Fatal(err)
	}
	if again, err := restored.Estimate(); err != nil || again.Records != 36 || again.Mean().Value[0] != e.Mean().Value[0] {
		t.Errorf("a snapshot: %+v, %v", again, err)
	}
}

// As many sites as are decoded, all of one gradient: the sum is theirs up to noise, which is large here.
func TestAsManySitesAsFitDoNotWrap(t *testing.T) {
	r := siteRound(1)
	r.Epsilon = 0.05
	s := openSite(t, r)
	a, rng := s.NewAggregator(), newRand(22)
	for range s.reports() {
		report, err := s.Encode(nil, []float64{1e6}, rng)
		if err == nil {
			err = a.Add(report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	if mean := e.Mean(); !(math.Abs(mean.Value[0]-r.Scale) <= 6*mean.StdErr[0]) {
		t.Errorf("the mean is %g ± %g, want %g", mean.Value[0], mean.StdErr[0], r.Scale)
	}
	report, err := s.Encode(nil, []float64{1}, rng)
	if err == nil {
		err = a.Add(report)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Estimate(); !isParam(err, "reports") {
		t.Errorf("more reports than the ring has room for were decoded: %v", err)
	}
}

// The errors of whole rounds are those that are stated.
func TestTheErrorOfSitesIsTheNoise(t *testing.T) {
	r := siteRound(3)
	each := openSite(t, r).StandardError(12, 12)
	err := fltest.Rounds(r, fltest.Accuracy{
		Gradients: [][]float64{{1, 0, -1}, {0.5, 0.5, 0}, {-1, 1, 1}}, Truth: []float64{0.5 / 3, 0.5, 0},
		MSE: 3 * each * each * 12, Reports: 12, Rounds: 400, StdErrFactor: 1.1, NoiseFactor: 1.1,
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBadReportsOfSitesAreRefused(t *testing.T) {
	r := siteRound(3)
	r.Params = fl.Params{fl.ParamRecords: fl.Int(40)}
	s := openSite(t, r)
	good := reportOf(t, s, 1, 4, make([]float64, 3))
	for name, change := range map[string]func([]byte) []byte{
		"a byte less": func(b []byte) []byte { return b[1:] }, "a byte more": func(b []byte) []byte { return append(b, 0) },
		"no records": func(b []byte) []byte { b[0] = 0; return b }, "too many": func(b []byte) []byte { b[0] = 41; return b },
		"unused bits": func(b []byte) []byte { b[len(b)-1] |= 0x80; return b },
	} {
		if err := s.NewAggregator().Add(change(bytes.Clone(good))); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.ring.length*s.ring.bits%8 == 0 {
		t.Fatal(fmt.Sprint("no unused bits in ", s.ring))
	}
}

// A snapshot is refused, or comes back as it was.
func FuzzSites(f *testing.F) {
	r := siteRound(3)
	r.Params = fl.Params{fl.ParamRecords: fl.Int(40)}
	s := openSite(f, r)
	a := s.NewAggregator()
	if err := a.Add(reportOf(f, s, 1, 4, make([]float64, 3))); err != nil {
		f.Fatal(err)
	}
	payload, err := s.round.Payload(marshalled(f, a), 1<<10)
	if err != nil {
		f.Fatal(err)
	}
	whole := payload.Rest()
	f.Add(whole)
	f.Add(append([]byte{whole[0] | 0x80, 0}, whole[1:]...)) // the same number of reports in two bytes
	f.Fuzz(func(t *testing.T, payload []byte) {
		data, err := s.round.Snapshot(payload)
		if err != nil {
			t.Fatal(err)
		}
		a := s.NewAggregator()
		empty := marshalled(t, a)
		switch err := a.UnmarshalBinary(data); {
		case err != nil && !bytes.Equal(marshalled(t, a), empty):
			t.Fatal("a refused snapshot changed the state")
		case err == nil && !bytes.Equal(marshalled(t, a), data):
			t.Fatalf("%x comes back as another", payload)
		}
	})
}

// Each noise was rounded down, by a half on average. Sums that are half of their number of noises below zero are zero.
func TestRoundingDownIsTakenBack(t *testing.T) {
	s := openSite(t, siteRound(5))
	sums := &ringSum{s.ring, make([]uint64, s.ring.length)}
	for i := range sums.residues {
		sums.residues[i] = 1<<64 - 5
	}
	e, err := s.estimate(sums, 10, 0, 10, s.Guarantee())
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range e.Mean().Value {
		if v != 0 {
			t.Errorf("coordinate %d: %g, want 0", j, v)
		}
	}
}
