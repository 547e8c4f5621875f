package sparse_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/sparse"
)

func TestCentralIsTheBlanketOfTheRound(t *testing.T) {
	for _, name := range names {
		for _, c := range []struct {
			sparsity int
			eps      float64
		}{{1, 0.5}, {8, 2}, {8, 5}} {
			r := roundOf(t, name, 600, c.sparsity, c.eps)
			slots, err := r.Params.Int("slots")
			if err != nil {
				t.Fatal(err)
			}
			blanket, err := privacy.NewBlanket(c.eps, c.sparsity, slots)
			if err != nil {
				t.Fatal(err)
			}
			m := open(t, r)
			for _, at := range []struct {
				n     int
				delta float64
			}{{1000, 1e-5}, {1000, 1e-8}, {40000, 1e-5}} {
				want, err := blanket.Epsilon(at.n, at.delta)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := m.Shuffled().Epsilon(at.n, at.delta); err != nil || got != want {
					t.Errorf("%s %+v: Shuffled().Epsilon(%d, %g) = %g, %v, want %g", name, c, at.n, at.delta, got, err, want)
				}
			}
			if _, err := m.Shuffled().Epsilon(1, 1e-5); err == nil {
				t.Errorf("%s: a central ε for one report", name)
			}
		}
	}
}

// The scale of a round is the worth of a unit: the same reports give values and
// standard errors in proportion to it.
func TestEstimatesAreInUnitsOfTheScale(t *testing.T) {
	for _, name := range names {
		r := roundOf(t, name, 60, 5, 2)
		all := reports(t, open(t, r), 60, 50)
		estimate := func(scale float64) *fl.Estimate {
			r.Scale = scale
			m := open(t, r)
			agg := m.NewAggregator()
			if err := fl.AddBatch(m, agg, all); err != nil {
				t.Fatal(err)
			}
			e, err := agg.Estimate()
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		unit := estimate(1)
		for _, scale := range []float64{0.5, 3} {
			e := estimate(scale)
			for j := range unit.Mean().Value {
				if e.Mean().Value[j] != scale*unit.Mean().Value[j] || e.Mean().StdErr[j] != scale*unit.Mean().StdErr[j] || !(unit.Mean().StdErr[j] > 0) {
					t.Fatalf("%s, scale %g: coordinate %d is %g ± %g, at scale 1 it is %g ± %g", name, scale, j, e.Mean().Value[j], e.Mean().StdErr[j], unit.Mean().Value[j], unit.Mean().StdErr[j])
				}
			}
		}
	}
}

func TestMergeRefusesRoundsThatDifferInAnything(t *testing.T) {
	for _, name := range names {
		r := roundOf(t, name, 60, 5, 2)
		agg := open(t, r).NewAggregator()
		for what, mutate := range map[string]func(*fl.Round){
			"id": func(r *fl.Round) { r.ID = "another" }, "scale": func(r *fl.Round) { r.Scale = 2 },
			"public seed": func(r *fl.Round) { r.PublicSeed[31]++ }, "reports": func(r *fl.Round) { r.MinReports = 2 },
		} {
			other := r
			mutate(&other)
			if err := agg.Merge(open(t, other).NewAggregator()); err == nil {
				t.Errorf("%s: merged a round with another %s", name, what)
			}
		}
		if err := agg.Merge(open(t, r).NewAggregator()); err != nil {
			t.Errorf("%s: the same round: %v", name, err)
		}
	}
}

// Without a generator the encoder makes its own. Twenty reports with the same
// 32-bit seed have probability 2^-608.
func TestEncodeWithoutAGenerator(t *testing.T) {
	for _, name := range names {
		m := open(t, roundOf(t, name, 10, 3, 2))
		seeds := map[uint32]bool{}
		for range 10 {
			fromGradient, err := m.Encode(nil, []float64{9: 0.5}, nil)
			if err != nil {
				t.Fatal(err)
			}
			fromTernary, err := m.EncodeTernary(nil, input(10, 3, 1), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, report := range [][]byte{fromGradient, fromTernary} {
				if len(report) != m.ReportBytes() {
					t.Fatalf("%s: a report of %d bytes, want %d", name, len(report), m.ReportBytes())
				}
				seeds[binary.LittleEndian.Uint32(report)] = true
			}
		}
		if len(seeds) < 2 {
			t.Errorf("%s: 20 reports have the same seed", name)
		}
	}
}

// Every bit of the seed takes both values in 200 reports; it would miss one by
// chance with probability 64·2^-200.
func TestSeedsUseAllBits(t *testing.T) {
	for _, name := range names {
		m := open(t, roundOf(t, name, 10, 3, 2))
		rng := rand.New(rand.NewChaCha8([32]byte{23}))
		some, all := uint32(0), ^uint32(0)
		for range 200 {
			report, err := m.EncodeTernary(nil, input(10, 3, 0), rng)
			if err != nil {
				t.Fatal(err)
			}
			seed := binary.LittleEndian.Uint32(report)
			some, all = some|seed, all&seed
		}
		if some != ^uint32(0) || all != 0 {
			t.Errorf("%s: the seeds of 200 reports have the OR %#x and the AND %#x", name, some, all)
		}
	}
}

// Snapshots with the right digest and checksum whose payload cannot be: each is
// refused and leaves the aggregator as it was.
func TestSnapshotsWithImpossiblePayloadsAreRefused(t *testing.T) {
	for _, name := range names {
		for _, hash := range sparse.HashFamilies() {
			r := roundWith(t, name, 20, 2, fl.Params{"sparsity": fl.Int(2), "hash": fl.Text(hash)})
			m := open(t, r)
			counted, err := count.NewRound(r)
			if err != nil {
				t.Fatal(err)
			}
			empty, err := m.NewAggregator().MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			zeros, err := counted.Payload(empty, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			integers := len(zeros.Rest()) - 1 // after the number of reports, one byte for each
			payload := func(reports uint64, counter func(i int) int64) []byte {
				p := binary.AppendUvarint(nil, reports)
				for i := range integers {
					p = binary.AppendVarint(p, counter(i))
				}
				return p
			}
			only := func(at int, v int64) func(int) int64 {
				return func(i int) int64 {
					if i == at {
						return v
					}
					return 0
				}
			}
			restore := func(p []byte) error {
				data, err := counted.Snapshot(p)
				if err != nil {
					t.Fatal(err)
				}
				agg := m.NewAggregator()
				err = agg.UnmarshalBinary(data)
				if err != nil {
					if _, e := agg.Estimate(); !errors.Is(e, fl.ErrNoReports) {
						t.Errorf("%s, %s: a refused snapshot was counted: %v", name, hash, e)
					}
				}
				return err
			}
			for what, p := range map[string][]byte{
				"as many hits as reports":    payload(3, only(0, 3)),
				"the last counter":           payload(3, only(integers-1, 3)),
				"the most reports there are": payload(fl.MaxReports, only(0, fl.MaxReports)),
			} {
				if err := restore(p); err != nil {
					t.Errorf("%s, %s: %s: %v", name, hash, what, err)
				}
			}
			for what, p := range map[string][]byte{
				"more hits than reports":           payload(3, only(0, 4)),
				"more hits, last counter":          payload(3, only(integers-1, 4)),
				"fewer than minus the reports":     payload(3, only(0, -4)),
				"a counter beyond 32 bits":         payload(3, only(0, 1<<32+1)),
				"more reports than can be counted": payload(fl.MaxReports+1, only(0, 0)),
				"a trailing byte":                  append(payload(3, only(0, 3)), 0),
				"a counter missing":                payload(3, only(0, 3))[:integers],
				"nothing":                          {},
				"an unfinished number":             {0x80},
			} {
				if restore(p) == nil {
					t.Errorf("%s, %s: %s: want an error", name, hash, what)
				}
			}
		}
	}
}

func TestRoundsThatCannotBeCompletedAreRefused(t *testing.T) {
	for _, name := range names {
		for what, c := range map[string]struct {
			eps    float64
			params fl.Params
			param  string
		}{
			// e^ε is 1 to the last bit: the report says nothing about the gradient.
			"no difference":      {1e-20, fl.Params{"sparsity": fl.Int(2), "slots": fl.Int(16), "hash": fl.Text("ideal")}, "epsilon"},
			"unknown hash":       {1, fl.Params{"sparsity": fl.Int(2), "hash": fl.Text("md5")}, "hash"},
			"unknown hash slots": {1, fl.Params{"sparsity": fl.Int(2), "slots": fl.Int(16), "hash": fl.Text("md5")}, "hash"},
			"hash of a kind":     {1, fl.Params{"sparsity": fl.Int(2), "hash": fl.Int(1)}, "hash"},
			"unknown parameter":  {1, fl.Params{"sparsity": fl.Int(2), "slot": fl.Int(16)}, "params"},
		} {
			r := fl.Round{
				ID: "test", Mechanism: name, Dim: 100, Scale: 1, Epsilon: c.eps, MinReports: 1,
				Params: c.params, PublicSeed: [32]byte{1},
			}
			_, _, err := fl.Complete(r)
			var p *fl.ParamError
			if !errors.As(err, &p) || p.Param != c.param {
				t.Errorf("%s, %s: error %v, want a ParamError for %s", name, what, err, c.param)
			}
		}
	}
}
