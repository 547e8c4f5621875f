// Package probe has the operations that the experiment speed times.
// Use it through go run ./bench speed. Start with [Measure].
//
// The experiment builds this package within another revision of the module, too, so that both are
// measured by the same code. So it calls only what many revisions have, in whatever form they have it.
package probe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
)

// Kinds of work.
const (
	Decode  = "server: add a report"
	Encode  = "client: encode a gradient"
	Ternary = "client: encode a ternary vector"
	Round   = "round"  // Open, Memory and Close
	Join    = "join"   // JoinTime and JoinMemory
	Plan    = "plan"   // PlanTime
	Losses  = "losses" // Gaussian and Shuffled
	Ingest  = "ingest" // IngestRate
)

// Work is what one call of Measure does.
type Work struct {
	Kind          string
	Hash          string // "gf2" or "ideal"; "" where there is no round
	Dim, Sparsity int
	Epsilon       float64
	// Reports is how many a server takes; 0 for other kinds.
	Reports int
	// Repeats is how often the work is done, at most; Seconds ends it earlier, but not before the third.
	Repeats int
	Seconds float64
	// Times is how often one report is made or added, without timing it, where instructions are
	// counted; 0 elsewhere.
	Times int
}

// Quantities that Measure returns, beside the kinds that are quantities themselves: Decode, Encode and
// Ternary in seconds.
const (
	Open       = "server: open a round"              // seconds
	Memory     = "server: memory of an open round"   // bytes
	Close      = "server: close a round"             // seconds
	JoinTime   = "client: join and encode"           // seconds
	JoinMemory = "client: memory to join and encode" // in gradients of float64
	PlanTime   = "plan 30 rounds of 60000 clients"   // seconds
	Gaussian   = "compose 1000 losses of Gaussian noise, σ = 1.5"
	Shuffled   = "compose 1000 shuffled rounds of 2000 clients, s = 40, ε = 5"
	IngestRate = "server: take packed reports, journal in memory" // reports per second
)

// Measure does the work and returns the median of each quantity. With Times there is none.
func Measure(ctx context.Context, w Work) (map[string]float64, error) {
	if w.Times > 0 {
		do, err := w.operation()
		for i := 0; i < w.Times && err == nil; i++ {
			err = do()
		}
		return nil, err
	}
	once, err := w.prepare(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]float64{}
	for i, began := 0, time.Now(); i < w.Repeats && (i < 3 || time.Since(began).Seconds() < w.Seconds); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		got, err := once()
		if err != nil {
			return nil, err
		}
		for name, v := range got {
			all[name] = append(all[name], v)
		}
	}
	out := map[string]float64{}
	for name, values := range all {
		slices.Sort(values)
		out[name] = (values[(len(values)-1)/2] + values[len(values)/2]) / 2
	}
	return out, nil
}

// prepare returns what is to be repeated.
func (w Work) prepare(ctx context.Context) (func() (map[string]float64, error), error) {
	switch w.Kind {
	case Decode, Encode, Ternary:
		return w.perReport(ctx)
	case Round:
		return w.round, nil
	case Join:
		return w.join, nil
	case Plan:
		return func() (map[string]float64, error) { return planning(ctx) }, nil
	case Losses:
		return func() (map[string]float64, error) { return losses(ctx) }, nil
	case Ingest:
		return func() (map[string]float64, error) { return w.ingest(ctx) }, nil
	}
	return nil, fmt.Errorf("probe: %w", fl.Invalid("kind", w.Kind, "must be a kind of work"))
}

// describe is a complete round for the work.
func (w Work) describe() (fl.Round, error) {
	return completed(fl.Complete(fl.Round{
		ID: "speed", Mechanism: coco.Name, Dim: w.Dim, Scale: 1, Epsilon: w.Epsilon, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{"sparsity": fl.Int(w.Sparsity), "hash": fl.Text(w.Hash)},
	}))
}

// completed reads what Complete returns: a round, in some revisions its mechanism, and an error.
func completed(values ...any) (fl.Round, error) {
	if err, failed := values[len(values)-1].(error); failed {
		return fl.Round{}, err
	}
	return values[0].(fl.Round), nil
}
