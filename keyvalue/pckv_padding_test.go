package keyvalue

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// frequencies are an estimate with only that column.
func frequencies(values ...float64) *fl.Estimate {
	r := fl.Round{Dim: len(values)}
	e := fl.NewEstimate(r, fl.Guarantee{}, 1, fl.Series{Value: make([]float64, len(values))})
	e.Columns = append(e.Columns, fl.Column{Name: fl.ColumnFrequency, Series: fl.Series{Value: values}})
	return e
}

func TestPaddingIsTheQuantile(t *testing.T) {
	for _, c := range []struct {
		share float64
		sizes []float64
		want  int
	}{
		{0.9, []float64{0.5, 0.3, 0.15, 0.05}, 3},
		{0.97, []float64{0.5, 0.3, 0.15, 0.05}, 5},
		{0.8, []float64{0.5, 0.3, 0.15, 0.05}, 2},
		{0.81, []float64{0.5, 0.3, 0.15, 0.05}, 3},
		{1, []float64{0.5, 0.3, 0.2, 0}, 3},
		{1, []float64{1. / 3, 1. / 3, 1. / 3}, 3},
		// The projection makes 0.9, 0.1, 0 of these: what is negative is noise.
		{0.95, []float64{1.1, 0.3, -0.5}, 2},
	} {
		classes := []int{1, 2, 3, 5}[:len(c.sizes)]
		if got, err := PaddingFromSizes(frequencies(c.sizes...), classes, c.share); got != c.want || err != nil {
			t.Errorf("%v of %v: %d, want %d, %v", c.share, c.sizes, got, c.want, err)
		}
	}
	none := fl.NewEstimate(fl.Round{Dim: 1}, fl.Guarantee{}, 1, fl.Series{Value: []float64{0}})
	for param, err := range map[string]error{
		"share": second(PaddingFromSizes(frequencies(1), []int{1}, 0)), "v": second(PaddingFromSizes(frequencies(math.NaN()), []int{1}, 0.9)),
		"sizes":   errors.Join(second(PaddingFromSizes(none, []int{1}, 0.9)), second(PaddingFromSizes(frequencies(1), []int{1, 2}, 0.9))),
		"largest": second(SizeClasses(0)),
	} {
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}

func TestSizeClasses(t *testing.T) {
	classes, err := SizeClasses(14)
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14}; err != nil || !slices.Equal(classes, want) {
		t.Errorf("%v, want %v, %v", classes, want, err)
	}
	for held, want := range map[int]uint32{0: 0, 1: 0, 8: 7, 9: 8, 10: 8, 11: 9, 14: 10, 15: 10, 1000: 10} {
		if got := SizePair(held, classes); got.Key != want || got.Value != 1 {
			t.Errorf("%d pairs: %+v, want key %d", held, got, want)
		}
	}
	// Neighbours differ by a quarter at most, but for small ones.
	if classes, err = SizeClasses(100_000); err != nil || classes[len(classes)-1] != 100_000 || len(classes) > 60 {
		t.Errorf("%d classes up to %d, %v", len(classes), classes[len(classes)-1], err)
	}
	for i, c := range classes[1:] {
		if c <= classes[i] || 4*c > 5*classes[i]+3 {
			t.Errorf("%d comes after %d", c, classes[i])
		}
	}
}

func second[T any](_ T, err error) error { return err }

// 20 000 clients of whom 60 % hold 2 pairs, 35 % hold 6 and 5 % hold 40, at ε = 2. The standard
// error of a cumulative share is below 0.02 (10 shares, each 0.005): 0.9 is 2.5 of them from 0.95 and
// 15 from 0.6. The run is seeded.
func TestPaddingOfARealRound(t *testing.T) {
	m, err := fl.Open(fl.Round{
		ID: "sizes", Mechanism: PCKVUE, Dim: 10, Scale: 1, Epsilon: 2, MinReports: 1, Relation: fl.ReplaceOne, PublicSeed: [32]byte{1},
		Columns: []string{fl.ColumnFrequency}, Params: fl.Params{ParamPadding: fl.Int(1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	classes, err := SizeClasses(12)
	if err != nil || len(classes) != 10 {
		t.Fatal(classes, err)
	}
	rng, agg := rand.New(rand.NewChaCha8([32]byte{3})), m.NewAggregator()
	for i := range 20_000 {
		held := 2
		switch {
		case i%20 == 0:
			held = 40
		case i%20 < 8:
			held = 6
		}
		report, err := m.(fl.KeyValueMechanism).EncodeKeyValues(nil, []fl.KeyValue{SizePair(held, classes)}, rng)
		if err := errors.Join(err, agg.Add(report)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := PaddingFromSizes(e, classes, 0.9); got != 6 || err != nil {
		t.Errorf("padding length %d, want 6, %v", got, err)
	}
}
