package plan

import (
	"context"
	"sync"

	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/privacy/compose"
	"github.com/hushgrad/hushgrad/sparse"
)

// search remembers what it has computed, because mechanisms whose slots have the same
// weights ask for the same central ε. It is safe for concurrent use.
type search struct {
	mu    sync.Mutex
	known map[question]func() (float64, error)
}

// question is what the central ε of a client's reports depends on, beside δ.
type question struct {
	likely, slots          int
	local                  float64
	cohort, participations int
	options                compose.Options
}

func newSearch() *search { return &search{known: map[question]func() (float64, error){}} }

// central is the central ε of all participations of a client, for a mechanism at a point. All
// calls for one search have the same ctx.
func (f *search) central(ctx context.Context, c *sparse.Scheme, p sparse.Point, b *privacy.Blanket, d Demand, options compose.Options) (float64, error) {
	q := question{
		likely: c.Likely(p.Sparsity), slots: p.Slots, local: p.Epsilon,
		cohort: d.cohort(), participations: d.Participations, options: options,
	}
	f.mu.Lock()
	answer, ok := f.known[q]
	if !ok {
		answer = sync.OnceValues(func() (float64, error) { return composedCentral(ctx, b, p.Epsilon, d, options) })
		f.known[q] = answer
	}
	f.mu.Unlock()
	return answer()
}
