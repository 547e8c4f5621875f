package verify

import (
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestPairsAreNeighbours(t *testing.T) {
	r := fl.Round{Dim: 4, Scale: 0.5, Params: fl.Params{"sparsity": fl.Int(3)}}
	all := gradients(r)
	if got := all[blockDown].values(); !slices.Equal(got, []float64{-0.5e6, 0.5e6, -0.5e6, 0}) {
		t.Errorf("a block: %v", got)
	}
	for _, g := range []fl.Guarantee{
		{Trust: fl.Local, Relation: fl.ReplaceOne}, {Trust: fl.Local, Relation: fl.ZeroOut},
		{Trust: fl.Shuffle, Relation: fl.ReplaceOne}, {Trust: fl.Shuffle, Relation: fl.ZeroOut},
		{Trust: fl.TwoServers, Relation: fl.ReplaceOne},
	} {
		for _, dim := range []int{1, 4} {
			for _, p := range pairs(g, dim) {
				if g.Relation == fl.ZeroOut && p[0] != zero {
					t.Errorf("%v: %s and %s are no neighbours", g, all[p[0]].name, all[p[1]].name)
				}
				r := r
				if r.Dim = dim; slices.Equal(gradients(r)[p[0]].values(), gradients(r)[p[1]].values()) {
					t.Errorf("%v: %s and %s are equal in dimension %d", g, all[p[0]].name, all[p[1]].name, dim)
				}
			}
		}
	}
}
