package probe

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// rng is the randomness of a work, the same in every revision.
func (w Work) rng() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{1})) }

// gradient has normal entries.
func (w Work) gradient(rng *rand.Rand) []float64 {
	grad := make([]float64, w.Dim)
	for j := range grad {
		grad[j] = rng.NormFloat64() / 40
	}
	return grad
}

// reports returns n reports of one ternary vector, fewer different ones.
func (w Work) reports(m fl.SparseMechanism, n int, rng *rand.Rand) ([][]byte, error) {
	out := make([][]byte, n)
	for i := range out {
		if i >= 4096 {
			out[i] = out[i%4096]
			continue
		}
		var err error
		if out[i], err = m.EncodeTernary(nil, w.ternary(), rng); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w Work) ternary() fl.Ternary {
	x := fl.Ternary{Dim: w.Dim}
	for j := range w.Sparsity {
		x.Index, x.Sign = append(x.Index, uint32(j)), append(x.Sign, int8(1-2*(j%2)))
	}
	return x
}

// operation returns what makes or adds one report.
func (w Work) operation() (func() error, error) {
	r, err := w.describe()
	if err != nil {
		return nil, err
	}
	opened, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	m, rng := opened.(fl.SparseMechanism), w.rng()
	var report []byte
	switch w.Kind {
	case Decode:
		reports, err := w.reports(m, 4096, rng)
		if err != nil {
			return nil, err
		}
		// Every report gets a hash function of its own, by the seed in its first four bytes. Reports that
		// come again would move a sum one way only, further than the reports of many clients do.
		agg, i := m.NewAggregator(), uint32(0)
		return func() error {
			report := reports[i%uint32(len(reports))]
			binary.LittleEndian.PutUint32(report, i*0x9e3779b1)
			i++
			return agg.Add(report)
		}, nil
	case Encode:
		grad := w.gradient(rng)
		return func() (err error) { report, err = m.Encode(report[:0], grad, rng); return err }, nil
	case Ternary:
		x := w.ternary()
		return func() (err error) { report, err = m.EncodeTernary(report[:0], x, rng); return err }, nil
	}
	return nil, fmt.Errorf("probe: %w", fl.Invalid("kind", w.Kind, "must be a kind of work on one report"))
}

// perReport times as many reports as take 50 ms: the memory of a tally is then in use.
func (w Work) perReport(ctx context.Context) (func() (map[string]float64, error), error) {
	do, err := w.operation()
	if err != nil {
		return nil, err
	}
	n := max(w.Reports, 1)
	many := func() (time.Duration, error) {
		began := time.Now()
		for range n {
			if err := do(); err != nil {
				return 0, err
			}
		}
		return time.Since(began), nil
	}
	for {
		took, err := many()
		if err != nil {
			return nil, err
		}
		if took > 50*time.Millisecond {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n *= 2
	}
	return func() (map[string]float64, error) {
		took, err := many()
		return map[string]float64{w.Kind: took.Seconds() / float64(n)}, err
	}, nil
}

// round opens a round on a server's side, adds reports and closes it.
func (w Work) round() (map[string]float64, error) {
	r, err := w.describe()
	if err != nil {
		return nil, err
	}
	before := heap()
	began := time.Now()
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	agg := m.NewAggregator()
	out := map[string]float64{Open: time.Since(began).Seconds()}
	reports, err := w.reports(m.(fl.SparseMechanism), w.Reports, w.rng())
	if err != nil {
		return nil, err
	}
	for _, report := range reports {
		if err := agg.Add(report); err != nil {
			return nil, err
		}
	}
	reports = nil
	open := heap() - before
	began = time.Now()
	_, err = agg.Estimate()
	out[Close] = time.Since(began).Seconds()
	out[Memory] = max(open, heap()-before) // an estimate may leave tables behind
	runtime.KeepAlive(m)
	runtime.KeepAlive(agg)
	return out, err
}

// heap returns the bytes that are in use, without pools, which a second collection empties.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}

// join makes one report as a client does that has just learned of the round. Its memory is all that
// is allocated on the way.
func (w Work) join() (map[string]float64, error) {
	r, err := w.describe()
	if err != nil {
		return nil, err
	}
	rng := w.rng()
	grad := w.gradient(rng)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	_, err = m.Encode(nil, grad, rng)
	took := time.Since(began).Seconds()
	runtime.ReadMemStats(&after)
	return map[string]float64{JoinTime: took, JoinMemory: float64(after.TotalAlloc-before.TotalAlloc) / float64(8*w.Dim)}, err
}
