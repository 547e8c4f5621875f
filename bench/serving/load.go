package serving

import (
	"fmt"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// dim is the number of coordinates of all rounds: a softmax regression on MNIST.
const dim = 7850

// poolReports is the number of distinct reports that clients send again and again, each time
// in a batch of its own. The server does the same work for every one of them.
const poolReports = 1 << 16

// load is what clients send in one kind of round.
type load struct {
	sparsity  int
	epsilon   float64
	round     fl.Round // without an id, which each measurement has of its own
	mechanism fl.Mechanism
	size      int    // bytes of a report
	pool      []byte // poolReports reports
}

// newLoad encodes the reports of random ternary vectors.
func newLoad(env experiment.Env, sparsity int, epsilon float64) (*load, error) {
	r := fl.Round{
		ID: "load", Mechanism: coco.Name, Dim: dim, Scale: 1, Epsilon: epsilon, Relation: fl.ReplaceOne,
		MinReports: 1, Params: fl.Params{sparse.ParamSparsity: fl.Int(sparsity)},
	}
	seed := experiment.Stream(env.Seed, 1, uint64(sparsity))
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(seed.Uint32())
	}
	r, m, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	encoder, ternary := m.(fl.SparseMechanism)
	sizer, sized := m.(fl.ReportSizer)
	if !ternary || !sized {
		return nil, fmt.Errorf("serving: %s has no encoder of ternary vectors, or reports of many sizes", r.Mechanism)
	}
	l := &load{sparsity: sparsity, epsilon: epsilon, round: r, mechanism: m, size: sizer.ReportBytes()}
	l.pool = make([]byte, poolReports*l.size)
	const part = 1 << 12
	var group errgroup.Group
	group.SetLimit(env.Jobs)
	for from := 0; from < poolReports; from += part {
		group.Go(func() error {
			rng := experiment.Stream(env.Seed, 2, uint64(sparsity), uint64(from))
			for i := from; i < from+part; i++ {
				at := l.pool[i*l.size : i*l.size : (i+1)*l.size]
				if _, err := encoder.EncodeTernary(at, vector(sparsity, rng), rng); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return l, group.Wait()
}

// vector draws a ternary vector with uniformly random support and signs.
func vector(sparsity int, rng *rand.Rand) fl.Ternary {
	x := fl.Ternary{Dim: dim}
	drawn := map[uint32]bool{}
	for len(drawn) < sparsity {
		if j := rng.Uint32N(dim); !drawn[j] {
			drawn[j] = true
			x.Index, x.Sign = append(x.Index, j), append(x.Sign, int8(1-2*rng.IntN(2)))
		}
	}
	return x
}
