package sparse_test

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestAdviceComesOnlyWhereItHelps(t *testing.T) {
	for _, c := range []struct {
		name     string
		sparsity int
		params   fl.Params
		eps      float64
		want     string // "" means no advice
	}{
		{"coco", 64, nil, 5, ""},
		{"coco", 64, nil, 0.1, ""}, // t = 2s is a power of two
		{"coco", 40, nil, 0.1, "sparsity of 31 or 63"},
		{"coco", 8, fl.Params{"slots": fl.Int(1000), "hash": fl.Text("ideal")}, 1, "1000 slots give"},
		{"collision", 8, fl.Params{"slots": fl.Int(1024)}, 1, "1024 slots give"},
	} {
		params := c.params.With("sparsity", fl.Int(c.sparsity))
		m := open(t, roundWith(t, c.name, 7850, c.eps, params))
		got := strings.Join(m.(fl.Adviser).Advice(), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: advice %q", c, got)
		}
	}
}
