package keyvalue_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// keeper is a mechanism that keeps the pairs that it encodes.
type keeper struct {
	fl.KeyValueMechanism
	pairs []fl.KeyValue
}

func (k *keeper) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, _ *rand.Rand) ([]byte, error) {
	k.pairs = pairs
	return append(dst, 7), nil
}

func TestPairsAreTheNonZeroCoordinates(t *testing.T) {
	m, r := &keeper{}, fl.Round{ID: "r", Dim: 5, Scale: 4}
	report, err := keyvalue.Encode(m, r, []byte{1}, []float64{0, 1, -8, 0, math.MaxFloat64}, nil)
	want := []fl.KeyValue{{Key: 1, Value: 0.25}, {Key: 2, Value: -1}, {Key: 4, Value: 1}}
	if err != nil || !slices.Equal(m.pairs, want) || !slices.Equal(report, []byte{1, 7}) {
		t.Errorf("got %v, %v, report %v, want %v", m.pairs, err, report, want)
	}
	r.Dim = 2
	for _, bad := range [][]float64{{1}, {1, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		var p *fl.ParamError
		if _, err := keyvalue.Encode(m, r, nil, bad, nil); !errors.As(err, &p) || p.Param != "gradient" {
			t.Errorf("%v: %v, want a ParamError for gradient", bad, err)
		}
	}
}

// params are the parameters of every mechanism over key-value pairs.
var params = map[string]fl.Params{
	keyvalue.PCKVUE:   {keyvalue.ParamPadding: fl.Int(4)},
	keyvalue.PCKVGRR:  {keyvalue.ParamPadding: fl.Int(4)},
	keyvalue.PCKVAGRR: {keyvalue.ParamPadding: fl.Int(4)},
}

func round(name string) fl.Round {
	return fl.Round{
		ID: "r", Mechanism: name, Dim: 10, Scale: 1, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 10,
		PublicSeed: [32]byte{1}, Params: params[name],
	}
}

// decode estimates from 100 reports of the same three pairs.
func decode(t *testing.T, r fl.Round) *fl.Estimate {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	agg, rng := m.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{3}))
	pairs := []fl.KeyValue{{Key: 0, Value: 0.5}, {Key: 4, Value: -1}, {Key: 9, Value: 1}}
	for range 100 {
		report, err := m.(fl.KeyValueMechanism).EncodeKeyValues(nil, pairs, rng)
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
	return e
}

// Reports do not depend on the scale and on the columns. So the same reports, decoded in rounds
// that differ in these, give the same numbers: the mean and the conditional mean times the
// scale, the frequency as it is, all in the round's order.
func TestColumnsAreInUnitsOfTheGradient(t *testing.T) {
	for name := range params {
		alone := decode(t, round(name))
		if len(alone.Columns) != 1 || alone.Columns[0].Name != fl.ColumnMean {
			t.Errorf("%s: a round that asks for nothing gets %d columns", name, len(alone.Columns))
		}
		both := round(name)
		both.Columns = keyvalue.Columns()
		one := decode(t, both)
		both.Scale, both.Columns = 4, []string{fl.ColumnConditional, fl.ColumnFrequency}
		four := decode(t, both)
		if one.Columns[1].Name != fl.ColumnFrequency || four.Columns[1].Name != fl.ColumnConditional || len(one.Columns) != 3 || len(four.Columns) != 3 {
			t.Fatalf("%s: columns %v and %v", name, one.Columns, four.Columns)
		}
		for column, scale := range map[string]float64{fl.ColumnMean: 4, fl.ColumnFrequency: 1, fl.ColumnConditional: 4} {
			a, okA := one.Column(column)
			b, okB := four.Column(column)
			if !okA || !okB || len(a.Value) != 10 || len(a.StdErr) != len(b.StdErr) || (a.StdErr == nil) != (column == fl.ColumnConditional) || slices.Max(a.Value) <= 0 {
				t.Fatalf("%s: %s: %v and %v", name, column, a, b)
			}
			for j, v := range a.Value {
				if b.Value[j] != scale*v {
					t.Errorf("%s: %s %d is %g, want %g times %g", name, column, j, b.Value[j], scale, v)
				}
			}
			for j, v := range a.StdErr {
				if b.StdErr[j] != scale*v || !(v > 0) {
					t.Errorf("%s: standard error of %s %d is %g, want %g times %g", name, column, j, b.StdErr[j], scale, v)
				}
			}
			if column == fl.ColumnMean && !slices.Equal(a.Value, alone.Mean().Value) {
				t.Errorf("%s: the mean depends on the columns", name)
			}
			if column == fl.ColumnConditional && (slices.Max(b.Value) > 4 || slices.Min(b.Value) < -4) {
				t.Errorf("%s: conditional means %v, want them within ±4", name, b.Value)
			}
		}
	}
}

// A round that asks for what its mechanism does not estimate is refused.
func TestOtherColumnsAreRefused(t *testing.T) {
	for name := range params {
		for column, estimated := range map[string]bool{fl.ColumnPlus: false, fl.ColumnMinus: false, fl.ColumnFrequency: true, fl.ColumnConditional: true} {
			r := round(name)
			r.Columns = []string{column}
			_, err := fl.Open(r)
			var p *fl.ParamError
			if estimated != (err == nil) || err != nil && (!errors.As(err, &p) || p.Param != "columns") {
				t.Errorf("%s: a round with the column %s: %v", name, column, err)
			}
		}
	}
}

func TestContract(t *testing.T) {
	for name := range params {
		r := round(name)
		r.Scale, r.Columns = 2, fl.Columns(name)
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Reports and snapshots have the first version's bytes.
func TestGoldenBytes(t *testing.T) {
	for name, want := range map[string][2]string{
		keyvalue.PCKVUE:   {"21795fffc4da4502", "e5ce709005d59652"},
		keyvalue.PCKVGRR:  {"fdb2d9a711031b3b", "4f33f4e56864919d"},
		keyvalue.PCKVAGRR: {"2d4b97b98ca7f86f", "d4bff698d2e0903d"},
	} {
		fltest.Golden(t, round(name), want[0], want[1])
	}
}
