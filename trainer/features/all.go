package features

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
)

// Progress is told how far a computation is. *progress.Bar is one.
type Progress interface {
	Grow(n int) // announces n more steps
	Step()      // counts one
}

// batch is the number of examples that a core takes at a time, and one step of a Progress.
const batch = 64

// All returns the vectors of all examples, one after the other: the vector of example i begins at
// i·Dim(). It computes on all cores. p may be nil.
//
// The error names the example whose length is not Inputs(), or wraps ctx's error. All looks at ctx
// between batches of 64 examples. Memory: 8·Dim() bytes for each example.
func All(ctx context.Context, f Features, examples [][]float64, p Progress) ([]float64, error) {
	for i, x := range examples {
		if len(x) != f.Inputs() {
			return nil, fmt.Errorf("features: %w", fl.Invalid(fmt.Sprintf("examples[%d]", i), len(x), "must be %d values, for %v", f.Inputs(), f))
		}
	}
	if p != nil {
		p.Grow((len(examples) + batch - 1) / batch)
	}
	dim := f.Dim()
	out := make([]float64, len(examples)*dim)
	var taken atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			for {
				end := int(taken.Add(batch))
				start := end - batch
				if start >= len(examples) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return fmt.Errorf("features: %w", err)
				}
				for i := start; i < min(end, len(examples)); i++ {
					f.Apply(out[i*dim:(i+1)*dim:(i+1)*dim], examples[i])
				}
				if p != nil {
					p.Step()
				}
			}
		})
	}
	return out, group.Wait()
}
