package plan

import (
	"errors"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// A network's gradients take the place of all that a request knew about softmax regression.
func TestANetworkReplacesSoftmaxRegression(t *testing.T) {
	before := Request{Dim: 9, Clients: 5, Budget: 2, Examples: &Examples{}, ZeroShot: 0.5, First: make([]float64, 9), L1: 7, L2: 6}
	r := before
	if err := r.FillNetwork([][]float64{{3, 4}, {0, 1}}); err != nil {
		t.Fatal(err)
	}
	if r.Dim != 2 || r.L1 != 4 || r.L2 != 3 || r.MaxLearningRate != networkRate || r.Public == nil {
		t.Errorf("%+v", r)
	}
	if r.Examples != nil || r.ZeroShot != 0 || r.First != nil || r.Clients != 5 || r.Budget != 2 {
		t.Errorf("%+v", r)
	}
	r = before
	var bad *fl.ParamError
	if err := r.FillNetwork(nil); !errors.As(err, &bad) || bad.Param != "gradients" || !reflect.DeepEqual(r, before) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Gradients beyond the size of a sample have no effect.
func TestSampleSizeIsWhatASampleLooksAt(t *testing.T) {
	dim := sampleValues / 40
	n := SampleSize(dim)
	rows := make([][]float64, n+1)
	for i := range rows {
		rows[i] = make([]float64, dim)
		rows[i][0] = float64(i + 1)
	}
	for _, c := range []struct {
		rows int
		want float64
	}{{n - 1, float64(n) / 2}, {n, float64(n+1) / 2}, {n + 1, float64(n+1) / 2}} {
		s, err := NewSample(rows[:c.rows])
		if err != nil {
			t.Fatal(err)
		}
		if _, l2 := s.Norms(); l2 < c.want-1e-9 || l2 > c.want+1e-9 {
			t.Errorf("%d gradients have the norm %g, want %g", c.rows, l2, c.want)
		}
	}
	if n != 40 || SampleSize(1<<20) != 32 || SampleSize(0) < 32 {
		t.Errorf("%d gradients of %d coordinates", n, dim)
	}
}
