package rivals_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/tiers"
)

// params are the parameters of every rival.
var params = map[string]fl.Params{
	rivals.PrivKV:      {},
	rivals.PrivKVM:     {rivals.ParamRounds: fl.Int(1), rivals.ParamVirtual: fl.Int(5)},
	rivals.KVUE:        {},
	rivals.PCKVTernary: {rivals.ParamSparsity: fl.Int(4)},
	rivals.Succinct:    {rivals.ParamSparsity: fl.Int(4), rivals.ParamBuckets: fl.Int(1), rivals.ParamBeta: fl.Real(0.1)},
}

func round(name string) fl.Round {
	return fl.Round{
		ID: "r", Mechanism: name, Dim: 10, Scale: 1, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 10,
		PublicSeed: [32]byte{1}, Params: params[name],
	}
}

// estimate is the estimate from 100 reports of the same three pairs.
func estimate(t *testing.T, r fl.Round) *fl.Estimate {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	agg := m.NewAggregator()
	if err := fl.AddBatch(m, agg, threePairs(t, m, 100)); err != nil {
		t.Fatal(err)
	}
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// threePairs are n reports of the same three pairs.
func threePairs(t *testing.T, m fl.Mechanism, n int) [][]byte {
	t.Helper()
	rng, out := rand.New(rand.NewChaCha8([32]byte{3})), make([][]byte, n)
	pairs := []fl.KeyValue{{Key: 0, Value: 0.5}, {Key: 4, Value: -1}, {Key: 9, Value: 1}}
	for i := range out {
		var err error
		if out[i], err = m.(fl.KeyValueMechanism).EncodeKeyValues(nil, pairs, rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Reports do not depend on the scale and on the columns. So the same reports, decoded in rounds that differ in
// the scale and the columns' order, give the same numbers: the mean and the conditional mean times the scale, the
// frequency as it is, all in the round's order. Succinct has no columns beside the mean.
func TestColumnsAreInUnitsOfTheGradient(t *testing.T) {
	for name := range params {
		one, four := round(name), round(name)
		one.Columns, four.Columns, four.Scale = fl.Columns(name), slices.Clone(fl.Columns(name)), 4
		slices.Reverse(four.Columns)
		if beside := len(one.Columns); (beside == 0) != (name == rivals.Succinct) || beside%2 != 0 {
			t.Errorf("%s estimates %v beside the mean", name, one.Columns)
		}
		a, b, alone := estimate(t, one), estimate(t, four), estimate(t, round(name))
		if len(alone.Columns) != 1 || !slices.Equal(a.Mean().Value, alone.Mean().Value) {
			t.Errorf("%s: the mean depends on the columns", name)
		}
		for i, column := range a.Columns {
			scaled := b.Columns[(len(b.Columns)-i)%len(b.Columns)] // the mean is the first one in both
			scale := 4.0
			if column.Name == fl.ColumnFrequency {
				scale = 1
			}
			if scaled.Name != column.Name || len(column.Value) != 10 || slices.Max(column.Value) <= 0 {
				t.Fatalf("%s: columns %v and %v", name, column, scaled)
			}
			if (column.StdErr == nil) != (column.Name == fl.ColumnConditional) || len(column.StdErr) != len(scaled.StdErr) {
				t.Fatalf("%s: standard errors %v and %v of %s", name, column.StdErr, scaled.StdErr, column.Name)
			}
			for j, v := range column.Value {
				if scaled.Value[j] != scale*v || column.Name == fl.ColumnConditional && !(v >= -1 && v <= 1) {
					t.Errorf("%s: %s %d is %g and %g with the scale 4", name, column.Name, j, v, scaled.Value[j])
				}
			}
			for j, v := range column.StdErr {
				if scaled.StdErr[j] != scale*v || !(v > 0) {
					t.Errorf("%s: standard error of %s %d is %g and %g with the scale 4", name, column.Name, j, v, scaled.StdErr[j])
				}
			}
		}
	}
}

// A round that asks for what its mechanism does not estimate is refused.
func TestOtherColumnsAreRefused(t *testing.T) {
	for name := range params {
		for column, pairs := range map[string]bool{fl.ColumnPlus: false, fl.ColumnMinus: false, fl.ColumnFrequency: true, fl.ColumnConditional: true} {
			r := round(name)
			r.Columns = []string{column}
			_, err := fl.Open(r)
			var p *fl.ParamError
			if (pairs && name != rivals.Succinct) != (err == nil) || err != nil && (!errors.As(err, &p) || p.Param != "columns") {
				t.Errorf("%s: a round with the column %s: %v", name, column, err)
			}
		}
	}
}

// The rivals keep the contract of package fl: with all columns, a small ε, one coordinate, and the parameters
// that the experiments change, and as the base of a menu. False-positive rate of the part "unbiased": 21 rounds at
// two ε with 21 statistics each, at 8 standard errors of 39 degrees of freedom, 8e-7.
func TestContract(t *testing.T) {
	with := func(name string, v fl.Value) func(r *fl.Round) {
		return func(r *fl.Round) { r.Params = r.Params.With(name, v) }
	}
	small := func(r *fl.Round) { r.Epsilon, r.Scale = 0.5, 1e-3 }
	single := func(r *fl.Round) { r.Dim = 1 }
	all := func(r *fl.Round) { r.Scale, r.Columns = 2, fl.Columns(r.Mechanism) }
	for name, changes := range map[string][]func(r *fl.Round){
		rivals.PrivKV:      {func(*fl.Round) {}, small, single, all},
		rivals.PrivKVM:     {func(*fl.Round) {}, small, single, all, with(rivals.ParamRounds, fl.Int(3))},
		rivals.KVUE:        {func(*fl.Round) {}, small, single, all},
		rivals.PCKVTernary: {func(*fl.Round) {}, all, with(rivals.ParamSparsity, fl.Int(3))},
		rivals.Succinct:    {func(*fl.Round) {}, all, with(rivals.ParamSparsity, fl.Int(3)), with(rivals.ParamBuckets, fl.Int(4))},
		tiers.Name: {func(r *fl.Round) {
			r.Params = fl.Params{tiers.ParamMenu: fl.Text("1,4"), tiers.ParamBase: fl.Text(rivals.PrivKV)}
		}},
	} {
		for i, change := range changes {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				t.Parallel()
				r := fl.Round{ID: "r", Mechanism: name, Dim: 20, Scale: 0.5, Epsilon: 4, MinReports: 30, PublicSeed: [32]byte{2}, Params: params[name]}
				change(&r)
				r, _, err := fl.Complete(r)
				if err != nil {
					t.Fatal(err)
				}
				if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
					t.Errorf("%+v: %v", r, err)
				}
			})
		}
	}
}

// Reports and snapshots have the first version's bytes.
func TestGoldenBytes(t *testing.T) {
	for name, want := range map[string][2]string{
		rivals.PrivKV:   {"fb95b061ae2f5a4a", "cff52d4aedaa3649"},
		rivals.PrivKVM:  {"fb95b061ae2f5a4a", "6a97c4023f080b59"},
		rivals.KVUE:     {"f6addc4a4d7564c7", "347bd489db222a5f"},
		rivals.Succinct: {"b50c4f95f59bdba6", "a3cabb1688af6fa1"},
	} {
		fltest.Golden(t, round(name), want[0], want[1])
	}
}
