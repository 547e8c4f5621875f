package hdsum_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/hdsum"
)

// A whole round: unbiased mean of the clipped gradients within the announced
// standard errors. (10 coordinates at 7 of them.)
func TestRoundGivesTheMean(t *testing.T) {
	for _, base := range bases {
		r := withBase(t, 10, base)
		r.Params = r.Params.With(hdsum.ParamRange, fl.Real(20)) // nothing is clipped
		m := open(t, r)
		agg := m.NewAggregator()
		grad := []float64{0.1, -0.2, 0.3, 0, 0.1, 0, -0.5, 0.2, 0, 0.9}
		rng := newRand(2)
		for range 40 {
			report, err := m.Encode([]byte{}, grad, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range e.Mean().Value {
			if math.Abs(v-grad[j]) > 7*e.Mean().StdErr[j] {
				t.Errorf("%s, coordinate %d: %g ± %g, want %g", base, j, v, e.Mean().StdErr[j], grad[j])
			}
		}
		g, err := hdsum.NewGradientSum(hdsum.GradientConfig{
			Config: hdsum.Config{Clients: 30, Capacity: 1104, Epsilon: 4, Delta: 1e-6, Relation: fl.ReplaceOne, Base: protocols[base], Calibration: hdsum.CalibrationTight},
			Dim:    10, ClipNorm: 2, Range: 20, Levels: 1, Beta: 0.1,
		})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := g.Analyze(g.NewSums(), 40)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := e.Mean().StdErr[3], sum.StdErr/40; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: standard error %g of the mean, want %g", base, got, want)
		}
		if e.Reports != 40 || e.Mechanism != "sumdp" || e.Guarantee != m.Guarantee() || len(e.Mean().StdErr) != 10 {
			t.Errorf("%s: %+v", base, e)
		}
	}
}

// The mean is scaled by the reports and the noise by the clients: the same reports
// decoded with twice the clip norm are worth twice as much.
func TestScaleIsTheClipNorm(t *testing.T) {
	r := withBase(t, 10, "bbgn")
	large := r
	large.Scale *= 2
	var values [2][]float64
	for k, round := range []fl.Round{r, large} {
		m := open(t, round)
		agg := m.NewAggregator()
		rng := newRand(3)
		for range 40 {
			report, err := m.Encode(nil, []float64{9: 0.7 * round.Scale}, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		e, err := agg.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		values[k] = append(e.Mean().Value, e.Mean().StdErr...)
	}
	for i, v := range values[0] {
		if math.Abs(2*v-values[1][i]) > 1e-12*(1+math.Abs(v)) {
			t.Errorf("number %d is %g and %g", i, v, values[1][i])
		}
	}
}

// However reports are split, ordered, merged and stored on the way, the
// snapshot is the same to the last bit.
func TestSnapshotsDoNotDependOnTheSplit(t *testing.T) {
	const n = 40
	for _, base := range bases {
		r := withBase(t, 10, base)
		m := open(t, r)
		all := reports(t, m, 10, n)
		whole := m.NewAggregator()
		if err := fl.AddBatch(m, whole, all); err != nil {
			t.Fatal(err)
		}
		want := snapshot(t, whole)
		for _, cut := range []int{0, 1, 17, n} {
			left, right := m.NewAggregator(), m.NewAggregator()
			for i := len(all) - 1; i >= 0; i-- {
				part := left
				if i >= cut {
					part = right
				}
				if err := part.Add(all[i]); err != nil {
					t.Fatal(err)
				}
			}
			stored := snapshot(t, right)
			restored := open(t, r).NewAggregator() // another process
			if err := restored.UnmarshalBinary(stored); err != nil {
				t.Fatal(err)
			}
			if err := left.Merge(restored); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(snapshot(t, left), want) {
				t.Errorf("%s, cut at %d: another snapshot", base, cut)
			}
			if !bytes.Equal(snapshot(t, restored), stored) {
				t.Errorf("%s, cut at %d: merging changed the other", base, cut)
			}
			a, err := left.Estimate()
			if err != nil {
				t.Fatal(err)
			}
			if b, err := whole.Estimate(); err != nil || !slices.Equal(a.Mean().Value, b.Mean().Value) || a.Reports != b.Reports || a.Reports != n {
				t.Errorf("%s, cut at %d: estimates differ, %v", base, cut, err)
			}
		}
	}
}

func snapshot(t testing.TB, agg fl.Aggregator) []byte {
	t.Helper()
	data, err := agg.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAggregatorsRefuseWhatIsNotTheirs(t *testing.T) {
	for _, base := range bases {
		r := withBase(t, 10, base)
		m := open(t, r)
		r.ID = "r2"
		other := open(t, r)
		agg := m.NewAggregator()
		empty := snapshot(t, agg)
		good := reports(t, m, 10, 3)
		err := fl.AddBatch(m, agg, [][]byte{good[0], {9}, good[2]})
		var batch *fl.BatchError
		if !errors.As(err, &batch) || batch.Index != 1 || !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: a batch with a bad report: %v", base, err)
		}
		for what, report := range map[string][]byte{"empty": {}, "form": {7, 1}, "long": append(slices.Clone(good[0]), 0), "instance": {0, 0xff, 0xff, 0x7f, 2, 0}} {
			if err := agg.Add(report); !errors.Is(err, fl.ErrBadReport) {
				t.Errorf("%s, %s: %v", base, what, err)
			}
		}
		if err := agg.Merge(other.NewAggregator()); err == nil {
			t.Errorf("%s: merged another round", base)
		}
		if err := agg.UnmarshalBinary(snapshot(t, other.NewAggregator())); err == nil {
			t.Errorf("%s: restored another round", base)
		}
		if !bytes.Equal(snapshot(t, agg), empty) {
			t.Errorf("%s: refused reports were counted", base)
		}
	}
}

// The noise of fewer reports than it was spread over would be too small, and more
// than the modulus has room for cannot be decoded.
func TestEstimateNeedsEnoughReports(t *testing.T) {
	for _, base := range bases {
		m := open(t, withBase(t, 2, base))
		agg := m.NewAggregator()
		if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: estimate without reports: %v", base, err)
		}
		report := reports(t, m, 2, 1)[0]
		for n := 1; n <= 30; n++ {
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
			_, err := agg.Estimate()
			var p *fl.ParamError
			if refused := errors.As(err, &p) && p.Param == "reports" && errors.Is(err, fl.ErrTooFewReports); refused != (n < 30) {
				t.Errorf("%s: estimate of %d reports: %v", base, n, err)
			}
		}
		for n := 31; n <= 2*40+1024; n++ {
			if err := agg.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := agg.Estimate(); err != nil {
			t.Errorf("%s: estimate at capacity: %v", base, err)
		}
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
		if _, err := agg.Estimate(); err == nil {
			t.Errorf("%s: estimate beyond capacity", base)
		}
	}
}

// A damaged snapshot is refused and leaves the aggregator as it was.
func TestDamagedSnapshotsAreRefused(t *testing.T) {
	for _, base := range bases {
		m := open(t, withBase(t, 4, base))
		agg := m.NewAggregator()
		if err := fl.AddBatch(m, agg, reports(t, m, 4, 5)); err != nil {
			t.Fatal(err)
		}
		good := snapshot(t, agg)
		for k := range good {
			if err := agg.UnmarshalBinary(good[:k]); err == nil {
				t.Errorf("%s: restored %d of %d bytes", base, k, len(good))
			}
			damaged := slices.Clone(good)
			damaged[k] ^= 0x10
			if err := agg.UnmarshalBinary(damaged); err == nil && !bytes.Equal(snapshot(t, agg), good) {
				t.Errorf("%s: restored with byte %d damaged", base, k)
			}
		}
		if !bytes.Equal(snapshot(t, agg), good) {
			t.Errorf("%s: refused snapshots changed the aggregator", base)
		}
	}
}

// Payloads that no aggregator writes: cut short, too long, residues that are none.
func TestForgedSnapshotsAreRefused(t *testing.T) {
	r := withBase(t, 2, "bbgn") // four instances
	round, err := count.NewRound(r)
	if err != nil {
		t.Fatal(err)
	}
	m := open(t, r)
	for what, c := range map[string]struct {
		payload []byte
		good    bool
	}{
		"zeros":          {[]byte{0, 0, 0, 0, 0}, true},
		"nothing":        {nil, false},
		"a sum missing":  {[]byte{0, 0, 0, 0}, false},
		"a byte behind":  {[]byte{0, 0, 0, 0, 0, 0}, false},
		"negative":       {[]byte{0, 0, 1, 0, 0}, false},
		"beyond modulus": {[]byte{0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, false},
	} {
		data, err := round.Snapshot(c.payload)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.NewAggregator().UnmarshalBinary(data); (err == nil) != c.good {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// Whatever bytes come as a snapshot, the aggregator stays usable.
func FuzzUnmarshal(f *testing.F) {
	m := open(f, withBase(f, 3, "bbgn"))
	agg := m.NewAggregator()
	if err := fl.AddBatch(m, agg, reports(f, m, 3, 4)); err != nil {
		f.Fatal(err)
	}
	f.Add(snapshot(f, agg))
	f.Fuzz(func(t *testing.T, data []byte) {
		agg := m.NewAggregator()
		if err := agg.UnmarshalBinary(data); err != nil {
			return
		}
		if err := m.NewAggregator().UnmarshalBinary(snapshot(t, agg)); err != nil {
			t.Fatalf("a snapshot of a restored aggregator is refused: %v", err)
		}
	})
}
