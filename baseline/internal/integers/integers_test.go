package integers_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/internal/integers"
	"github.com/hushgrad/hushgrad/fl"
)

// plain sends the clipped gradient, in whole numbers, without noise.
type plain struct{}

func (plain) Perturb(dst []byte, grad []float64, clip float64, _ *rand.Rand) []byte {
	for _, g := range grad {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(int16(math.Round(g*clip))))
	}
	return dst
}

func round(dim int) fl.Round {
	return fl.Round{
		ID: "test", Mechanism: "plain", Dim: dim, Scale: 100, Epsilon: 1, Delta: 1e-6,
		Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
	}
}

func open(t testing.TB, dim int, norm float64) *integers.Mechanism {
	t.Helper()
	m, err := integers.New(round(dim), integers.Law{Perturber: plain{}, Norm: norm, Step: 0.5, Variance: 16})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func encode(t testing.TB, m fl.Mechanism, grad ...float64) []byte {
	t.Helper()
	report, err := m.Encode(nil, grad, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestGradientsAreClippedToTheirNorm(t *testing.T) {
	for norm, want := range map[float64][4][2]int16{1: {{60, -40}, {50, 50}, {0, 3}, {50, -50}}, 2: {{60, -40}, {71, 71}, {0, 3}, {71, -71}}} {
		m := open(t, 2, norm)
		for i, grad := range [][]float64{{60, -40}, {1e6, 1e6}, {0, 3}, {80, -80}} {
			report := encode(t, m, grad...)
			for j, w := range want[i] {
				if got := int16(binary.LittleEndian.Uint16(report[2*j:])); got != w {
					t.Errorf("L%g norm: coordinate %d of %v is %d, want %d", norm, j, grad, got, w)
				}
			}
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, norm := range []float64{1, 2} {
		m := open(t, 2, norm)
		for _, bad := range [][]float64{{1}, {1, 2, 3}, {math.NaN(), 0}, {0, math.Inf(-1)}} {
			var p *fl.ParamError
			if got, err := m.Encode([]byte{9}, bad, nil); !errors.As(err, &p) || p.Param != "gradient" || len(got) != 1 {
				t.Errorf("%v: %v, %v, want a ParamError for gradient", bad, got, err)
			}
		}
		if got, err := m.Encode([]byte{9}, []float64{1, 2}, nil); err != nil || len(got) != 1+m.ReportBytes() || got[0] != 9 {
			t.Errorf("%v, %v: want a report behind the first byte", got, err)
		}
	}
}

// A gradient that were refused would reveal something by the report that is missing.
func TestHugeGradientsAreClipped(t *testing.T) {
	for norm, both := range map[float64]int16{1: 50, 2: 71} {
		m := open(t, 2, norm)
		for _, c := range []struct {
			grad []float64
			want [2]int16
		}{
			{[]float64{math.MaxFloat64, -math.MaxFloat64}, [2]int16{both, -both}},
			{[]float64{1e307, 0}, [2]int16{100, 0}},
			{[]float64{-1e300, math.SmallestNonzeroFloat64}, [2]int16{-100, 0}},
			{[]float64{math.Copysign(0, -1), -math.SmallestNonzeroFloat64}, [2]int16{}},
		} {
			report := encode(t, m, c.grad...)
			for j, want := range c.want {
				if got := int16(binary.LittleEndian.Uint16(report[2*j:])); got != want {
					t.Errorf("L%g norm: coordinate %d of %v is %d, want %d", norm, j, c.grad, got, want)
				}
			}
		}
	}
}

// (2 + 4 + 3)/3 + ½ in steps of 0.5, and the like, with 0.5·√(16/3).
func TestEstimate(t *testing.T) {
	m := open(t, 2, 2)
	agg := m.NewAggregator()
	if _, err := agg.Estimate(); !errors.Is(err, fl.ErrNoReports) {
		t.Errorf("%v, want ErrNoReports", err)
	}
	for _, grad := range [][]float64{{2, -7}, {4, 1}, {3, -9}} {
		if err := agg.Add(encode(t, m, grad...)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{1.75, -2.25} {
		if math.Abs(e.Mean().Value[j]-want) > 1e-15 || math.Abs(e.Mean().StdErr[j]-2/math.Sqrt(3)) > 1e-15 {
			t.Errorf("coordinate %d: %g ± %g", j, e.Mean().Value[j], e.Mean().StdErr[j])
		}
	}
	if e.Reports != 3 || e.Mechanism != "plain" || e.Guarantee != (fl.Guarantee{Trust: fl.Local, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne}) {
		t.Errorf("%+v", e)
	}
}
