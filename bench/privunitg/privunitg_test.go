package privunitg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
	"github.com/hushgrad/hushgrad/privacy"
)

func round(dim int, epsilon float64) fl.Round {
	return fl.Round{
		ID: "test", Mechanism: Name, Dim: dim, Scale: 2, Epsilon: epsilon,
		Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
	}
}

func open(t testing.TB, r fl.Round) *mechanism {
	t.Helper()
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*mechanism)
}

// complete is a complete round of 12 coordinates.
func complete() fl.Round {
	r := round(12, 2)
	r.ID, r.MinReports = "r", 10
	return r
}

// False-positive rate of the part "unbiased": 3 rounds at two ε with 21 statistics each, at 8 standard errors of 39
// degrees of freedom, 2e-7.
func TestContract(t *testing.T) {
	small := func(r *fl.Round) { r.Epsilon, r.Scale = 0.5, 1e-3 }
	single := func(r *fl.Round) { r.Dim = 1 }
	for i, change := range []func(r *fl.Round){func(*fl.Round) {}, small, single} {
		r := complete()
		change(&r)
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("round %d: %v", i, err)
		}
	}
}

// Reports and snapshots have the first version's bytes.
func TestGoldenBytes(t *testing.T) {
	fltest.Golden(t, complete(), "c05e5653d16d8df3", "19215dceeac017c8")
}

// gradient has the given L2 norm and unequal coordinates.
func gradient(dim int, norm float64) []float64 {
	x, sum := make([]float64, dim), 0.
	for j := range x {
		x[j] = float64(j%7) - 2.5
		sum += x[j] * x[j]
	}
	for j := range x {
		x[j] *= norm / math.Sqrt(sum)
	}
	return x
}

// Reports of short and of clipped gradients: the squared error is the exact one, the mean in
// the gradient's direction and in every coordinate is the gradient. At most 25 cases of 1
// squared error and dim ≤ 40 + 1 means within 5.8 standard errors: 25·42·7e-9 = 7e-6.
func TestReportsAreUnbiasedWithTheExactError(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, dim := range []int{1, 2, 40, 2000} {
		for _, epsilon := range []float64{0.1, 1, 4, 16} {
			for _, norm := range []float64{0.7, 2, 9} {
				if dim == 2000 && norm != 2 || dim == 40 && norm == 2 {
					continue
				}
				n := 10_000
				if dim == 2000 {
					n = 800
				}
				t.Run(fmt.Sprintf("d=%d/ε=%g/norm=%g", dim, epsilon, norm), func(t *testing.T) {
					measure(t, open(t, round(dim, epsilon)), gradient(dim, norm), n, rng)
				})
			}
		}
	}
}

func measure(t *testing.T, m *mechanism, grad []float64, n int, rng *rand.Rand) {
	norm, scale, s := 0., m.round.Scale, m.split
	for _, g := range grad {
		norm += g * g
	}
	clip := min(1, scale/math.Sqrt(norm))
	// The last coordinate's error is not part of the report.
	last := 1 - norm*clip*clip/(scale*scale)
	want, err := Error(m.round.Epsilon, m.round.Dim)
	if err != nil {
		t.Fatal(err)
	}
	want = scale * scale * (want - 1/(s.slope()*s.slope()) - last*(s.z/s.slope()-1))
	var squared, squares, along, along2 float64
	agg, empty := m.NewAggregator(), &sums{mechanism: m, sum: make([]float64, m.round.Dim)}
	var report []byte
	for range n {
		if report, err = m.Encode(report[:0], grad, rng); err != nil {
			t.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
		read, err := empty.Read(report)
		if err != nil {
			t.Fatal(err)
		}
		off, dot := 0., 0.
		for j, g := range grad {
			d := float64(read[j]) - g*clip
			off += d * d
			dot += d * g / math.Sqrt(norm)
		}
		squared += off
		squares += off * off
		along += dot
		along2 += dot * dot
	}
	reports := float64(n)
	check := func(what string, got, want, se float64) {
		if !(math.Abs(got-want) < 5.8*se) {
			t.Errorf("%s: %g ± %g, want %g", what, got, se, want)
		}
	}
	mean := squared / reports
	check("squared error", mean, want, math.Sqrt((squares/reports-mean*mean)/reports))
	check("direction", along/reports, 0, math.Sqrt(along2)/reports)
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	if len(grad) > 40 {
		return
	}
	for j, g := range grad {
		check(fmt.Sprint("coordinate ", j), e.Mean().Value[j], g*clip, e.Mean().StdErr[j])
	}
}

// The standard error is exact where the gradients are 0. Their law is normal: the
// average of 400 squares is within 5.5·sqrt(2/400) of 1 but with probability 1e-6 at most (it
// has the tail of χ², below 1e-6 at 1.39).
func TestStandardErrorOfZeros(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	m := open(t, round(400, 8))
	grad := make([]float64, 400)
	agg := m.NewAggregator()
	for range 100 {
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
	squares := 0.
	for j, v := range e.Mean().Value {
		squares += v * v / (e.Mean().StdErr[j] * e.Mean().StdErr[j]) / 400
	}
	if !(math.Abs(squares-1) < 0.39) || e.Reports != 100 || e.Mechanism != Name {
		t.Errorf("squares of the mean are %g of the squared standard errors on average, %d reports of %s", squares, e.Reports, e.Mechanism)
	}
}

func TestPromise(t *testing.T) {
	m := open(t, round(5, 1))
	if g, want := m.Guarantee(), (fl.Guarantee{Trust: fl.Local, Epsilon: 1, Relation: fl.ReplaceOne, RealNumbers: true}); g != want {
		t.Errorf("%+v, want %+v", g, want)
	}
	clone, err := privacy.NewClone(1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := clone.Epsilon(10_000, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Shuffled().Epsilon(10_000, 1e-6); err != nil || got != want {
		t.Errorf("central ε %g, %v, want the bound of clones, %g", got, err, want)
	}
	if got, err := m.Shuffled().Delta(10_000, want); err != nil || !(got <= 1e-6 && got > 0.9e-6) {
		t.Errorf("central δ %g, %v, want 1e-6", got, err)
	}
}

func TestOpenAndEncodeRefuse(t *testing.T) {
	for param, change := range map[string]func(*fl.Round){
		"epsilon":  func(r *fl.Round) { r.Epsilon = 1e-7 },
		"delta":    func(r *fl.Round) { r.Delta = 1e-9 },
		"relation": func(r *fl.Round) { r.Relation = fl.ZeroOut },
		"params":   func(r *fl.Round) { r.Params = fl.Params{"sparsity": fl.Int(1)} },
		"scale":    func(r *fl.Round) { r.Scale = 0x1p61 },
	} {
		r := round(3, 1)
		change(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	m := open(t, round(3, 1))
	for _, bad := range [][]float64{{1}, {1, math.NaN(), 0}, {math.Inf(1), 0, 0}} {
		var p *fl.ParamError
		if got, err := m.Encode([]byte{5}, bad, nil); !errors.As(err, &p) || p.Param != "gradient" || len(got) != 1 {
			t.Errorf("%v: %v, %v, want a ParamError for gradient", bad, got, err)
		}
	}
	if got, err := m.Encode([]byte{5}, []float64{0, 0, 0}, nil); err != nil || len(got) != 1+m.ReportBytes() || got[0] != 5 {
		t.Errorf("%v, %v, want a report behind the first byte", got, err)
	}
}

func BenchmarkEncodeAdd(b *testing.B) {
	m := open(b, round(2000, 1))
	agg, rng, grad, buffer := m.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{7})), gradient(2000, 3), []byte(nil)
	for b.Loop() {
		report, err := m.Encode(buffer[:0], grad, rng)
		if err != nil {
			b.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			b.Fatal(err)
		}
		buffer = report
	}
}
