package sparse_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
)

var names = []string{coco.Name, collision.Name}

// reports encodes n different gradients.
func reports(t testing.TB, m fl.Mechanism, dim, n int) [][]byte {
	t.Helper()
	rng := rand.New(rand.NewChaCha8([32]byte{21}))
	grad := make([]float64, dim)
	out := make([][]byte, n)
	for i := range out {
		for j := range grad {
			grad[j] = rng.NormFloat64() / 4
		}
		var err error
		if out[i], err = m.Encode(nil, grad, rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// However reports are split, ordered, merged and stored on the way, the
// snapshot is the same to the last bit.
func TestSnapshotsDoNotDependOnTheSplit(t *testing.T) {
	for _, name := range names {
		r := roundOf(t, name, 60, 5, 2)
		m := open(t, r)
		all := reports(t, m, 60, 90)
		whole := m.NewAggregator()
		if err := fl.AddBatch(m, whole, all); err != nil {
			t.Fatal(err)
		}
		want, err := whole.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []int{0, 1, 44, 90} {
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
			stored, err := right.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			restored := open(t, r).NewAggregator() // another process
			if err := restored.UnmarshalBinary(stored); err != nil {
				t.Fatal(err)
			}
			if err := left.Merge(restored); err != nil {
				t.Fatal(err)
			}
			if got, err := left.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, cut at %d: another snapshot (%v)", name, cut, err)
			}
		}
	}
}

func TestAggregatorsRefuseWhatIsNotTheirs(t *testing.T) {
	for _, name := range names {
		m := open(t, roundOf(t, name, 60, 5, 2))
		other := open(t, roundOf(t, name, 61, 5, 2))
		agg := m.NewAggregator()
		if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: estimate without reports: %v", name, err)
		}
		good := reports(t, m, 60, 3)
		err := fl.AddBatch(m, agg, [][]byte{good[0], good[1][:3], good[2]})
		var batch *fl.BatchError
		if !errors.As(err, &batch) || batch.Index != 1 || !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: a batch with a bad report: %v", name, err)
		}
		if err := agg.Add(append(good[0], 0)); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: a long report: %v", name, err)
		}
		if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
			t.Errorf("%s: refused reports were counted: %v", name, err)
		}
		if err := agg.Merge(other.NewAggregator()); err == nil {
			t.Errorf("%s: merged another round", name)
		}
		foreign, err := other.NewAggregator().MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := agg.UnmarshalBinary(foreign); err == nil {
			t.Errorf("%s: restored another round", name)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{}))
	for _, name := range names {
		m := open(t, roundOf(t, name, 10, 3, 2))
		for what, err := range map[string]error{
			"short":    encodeError(m.Encode([]byte("x"), make([]float64, 9), rng)),
			"NaN":      encodeError(m.Encode([]byte("x"), []float64{9: math.NaN()}, rng)),
			"repeated": encodeError(m.EncodeTernary([]byte("x"), fl.Ternary{Dim: 10, Index: []uint32{1, 2, 1}, Sign: []int8{1, 1, -1}}, rng)),
			"few":      encodeError(m.EncodeTernary([]byte("x"), fl.Ternary{Dim: 10, Index: []uint32{1}, Sign: []int8{1}}, rng)),
		} {
			var p *fl.ParamError
			if !errors.As(err, &p) {
				t.Errorf("%s, %s: error %v, want a ParamError", name, what, err)
			}
		}
	}
}

// encodeError checks that a refused call leaves the destination alone.
func encodeError(dst []byte, err error) error {
	if err != nil && string(dst) != "x" {
		return errors.New("the destination changed")
	}
	return err
}

func TestRoundsWithBadParametersAreRefused(t *testing.T) {
	for _, name := range names {
		for what, c := range map[string]struct {
			mutate func(*fl.Round)
			param  string
		}{
			"no privacy":      {func(r *fl.Round) { r.Epsilon = math.Inf(1) }, "epsilon"},
			"delta":           {func(r *fl.Round) { r.Delta = 1e-6 }, "delta"},
			"relation":        {func(r *fl.Round) { r.Relation = fl.ZeroOut }, "relation"},
			"sparsity 0":      {func(r *fl.Round) { r.Params = r.Params.With("sparsity", fl.Int(0)) }, "sparsity"},
			"sparsity > dim":  {func(r *fl.Round) { r.Params = r.Params.With("sparsity", fl.Int(11)) }, "sparsity"},
			"sparsity text":   {func(r *fl.Round) { r.Params = r.Params.With("sparsity", fl.Text("3")) }, "sparsity"},
			"few slots":       {func(r *fl.Round) { r.Params = r.Params.With("slots", fl.Int(3)) }, "slots"},
			"many slots":      {func(r *fl.Round) { r.Params = r.Params.With("slots", fl.Int(1<<31+2)) }, "slots"},
			"hash":            {func(r *fl.Round) { r.Params = r.Params.With("hash", fl.Text("md5")) }, "hash"},
			"unknown":         {func(r *fl.Round) { r.Params = r.Params.With("slot", fl.Int(8)) }, "params"},
			"without hashing": {func(r *fl.Round) { delete(r.Params, "hash") }, "hash"},
		} {
			r := roundOf(t, name, 10, 3, 2)
			c.mutate(&r)
			_, err := fl.Open(r)
			var p *fl.ParamError
			if !errors.As(err, &p) || p.Param != c.param {
				t.Errorf("%s, %s: error %v, want a ParamError for %s", name, what, err, c.param)
			}
		}
	}
}

// The standard errors cover: |estimate − truth| below 1.96 of them in at least
// 93 % of the coordinates. Per mechanism 40 rounds of 300 coordinates give 12 000
// nearly independent trials; at a true coverage of 95 % fewer than 93 % have
// probability below 1e-20. Where hits are few the intervals are wider, but not useless.
func TestStandardErrorsCover(t *testing.T) {
	const dim, s, n, rounds = 300, 8, 400, 40
	grad := make([]float64, dim)
	for j := range 40 {
		grad[j] = 0.5 - 0.025*float64(j)
	}
	for _, name := range names {
		r := roundOf(t, name, dim, s, 3)
		m := open(t, r)
		rng := rand.New(rand.NewChaCha8([32]byte{22}))
		l1 := 0.0
		for _, g := range grad {
			l1 += math.Abs(g)
		}
		shrink := min(1, float64(s)/l1)
		covered, widest := 0, 0.0
		for range rounds {
			agg := m.NewAggregator()
			for range n {
				report, err := m.Encode(nil, grad, rng)
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
				z := math.Abs(v-grad[j]*shrink) / e.Mean().StdErr[j]
				if z < 1.96 {
					covered++
				}
				widest = max(widest, z)
			}
		}
		share := float64(covered) / (dim * rounds)
		if share < 0.93 || share > 0.99 || widest > 8 {
			t.Errorf("%s: 95%% intervals cover %.3f, largest deviation %.1f standard errors", name, share, widest)
		}
		t.Logf("%s: 95%% intervals cover %.4f, largest deviation %.1f standard errors", name, share, widest)
	}
}

// Whatever bytes come as a snapshot, the aggregator stays usable.
func FuzzUnmarshal(f *testing.F) {
	m := open(f, roundOf(f, coco.Name, 6, 2, 1))
	agg := m.NewAggregator()
	if err := fl.AddBatch(m, agg, reports(f, m, 6, 4)); err != nil {
		f.Fatal(err)
	}
	seed, err := agg.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		agg := m.NewAggregator()
		if err := agg.UnmarshalBinary(data); err != nil {
			return
		}
		again, err := agg.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := m.NewAggregator().UnmarshalBinary(again); err != nil {
			t.Fatalf("a snapshot of a restored aggregator is refused: %v", err)
		}
	})
}
