package rivals

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

var twoOfFive = fl.Params{ParamSparsity: fl.Int(2), ParamBuckets: fl.Int(2)}

func succinctReports(t testing.TB, m *succinctMechanism, n int) [][]byte {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	out := make([][]byte, n)
	for i := range out {
		var err error
		if out[i], err = m.EncodeKeyValues(nil, []fl.KeyValue{{Key: 0, Value: 0.5}, {Key: 4, Value: -1}}, rng); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Every integer of the range survives, those beyond it become its ends, and the one
// code that no client sends is refused.
func TestCodec(t *testing.T) {
	for bytes := 1; bytes <= 4; bytes++ {
		c := succinctCodec{bytes: bytes}
		end := int64(1)<<(8*bytes-1) - 1
		for _, x := range []int64{0, 1, -1, 100, -100, end, -end, end + 1, -end - 1, math.MaxInt64, math.MinInt64} {
			got, err := c.parse(c.append(nil, sketch{0xfedcba98, x}))
			if want := (sketch{0xfedcba98, min(max(x, -end), end)}); err != nil || got != want {
				t.Errorf("%d bytes: %d became %+v, %v", bytes, x, got, err)
			}
		}
		bad := make([]byte, 4+bytes)
		bad[3+bytes] = 0x80
		if _, err := c.parse(bad); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%d bytes: the least integer: %v, want ErrBadReport", bytes, err)
		}
	}
}

func TestSuccinctBadRoundsAreRefused(t *testing.T) {
	for param, change := range map[string]func(r *fl.Round){
		"epsilon":     func(r *fl.Round) { r.Epsilon = math.Inf(1) },
		"delta":       func(r *fl.Round) { r.Delta = 0.1 },
		"relation":    func(r *fl.Round) { r.Relation = fl.ZeroOut },
		"params":      func(r *fl.Round) { r.Params = r.Params.With("slots", fl.Int(1)) },
		ParamSparsity: func(r *fl.Round) { r.Params = r.Params.With(ParamSparsity, fl.Int(6)) },
		ParamBuckets:  func(r *fl.Round) { r.Params = r.Params.With(ParamBuckets, fl.Int(0)) },
		ParamBeta:     func(r *fl.Round) { r.Params = r.Params.With(ParamBeta, fl.Real(1)) },
	} {
		r := CompleteRound(t, Succinct, 5, 1, twoOfFive)
		change(&r)
		var p *fl.ParamError
		if _, err := fl.Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v, want a ParamError for %s", err, param)
		}
	}
	m := succinctOpen(t, 5, 1, twoOfFive)
	for _, pairs := range [][]fl.KeyValue{{{Key: 5}}, {{Key: 1}, {Key: 1}}, {{Key: 1, Value: math.NaN()}}} {
		var p *fl.ParamError
		out, err := m.EncodeKeyValues([]byte("x"), pairs, nil)
		if !errors.As(err, &p) || p.Param != "pairs" || string(out) != "x" {
			t.Errorf("%v: %q, %v", pairs, out, err)
		}
	}
	if out, err := m.Encode([]byte("x"), []float64{1, 2, 3, 4, math.NaN()}, nil); err == nil || string(out) != "x" {
		t.Errorf("a gradient with NaN: %q, %v", out, err)
	}
}

// The larger of the two numbers of reports decides the clip.
func TestClipCountsTheReportsOfTheRound(t *testing.T) {
	r := CompleteRound(t, Succinct, 1000, 1, fl.Params{ParamSparsity: fl.Int(500)})
	for _, c := range []struct{ least, target, reports int }{{100, 0, 100}, {100, 1_000_000, 1_000_000}} {
		r.MinReports, r.TargetReports = c.least, c.target
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := SuccinctClip(500, 1, c.reports, 0.1); err != nil || m.(*succinctMechanism).clip != int64(want) {
			t.Errorf("%+v: clip %d, want %d, %v", c, m.(*succinctMechanism).clip, want, err)
		}
	}
}
