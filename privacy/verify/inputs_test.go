package verify

import (
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/hushgrad/hushgrad/fl"
)

func TestAllInputsAreDistinctAndAccepted(t *testing.T) {
	for _, c := range []struct{ dim, sparsity int }{{1, 1}, {4, 1}, {3, 2}, {4, 3}} {
		inputs := allInputs(c.dim, c.sparsity)
		want := combin.Binomial(c.dim+c.sparsity, c.sparsity) << c.sparsity
		if c.sparsity > 1 {
			want *= 2
		}
		seen := map[string]bool{}
		for _, x := range inputs {
			if err := x.Validate(c.dim, c.sparsity); err != nil {
				t.Error(err)
			}
			seen[show(x)] = true
		}
		for i := 0; c.sparsity > 1 && i < len(inputs); i += 2 {
			x, y := inputs[i], inputs[i+1]
			for k, last := 0, c.sparsity-1; k <= last; k++ {
				if x.Index[k] != y.Index[last-k] || x.Sign[k] != y.Sign[last-k] {
					t.Errorf("%s and %s are not the same vector", show(x), show(y))
				}
			}
		}
		if len(inputs) != want || len(seen) != want || countInputs(c.dim, c.sparsity, 1<<30) != want {
			t.Errorf("%+v: %d inputs, %d distinct, %d announced, want %d", c, len(inputs), len(seen), countInputs(c.dim, c.sparsity, 1<<30), want)
		}
		if countInputs(c.dim, c.sparsity, want-1) <= want-1 {
			t.Errorf("%+v: one below the number is enough", c)
		}
	}
	if n := countInputs(fl.MaxDim, 1<<20, maxLimit); n <= maxLimit {
		t.Errorf("the largest domain has %d inputs", n)
	}
}
