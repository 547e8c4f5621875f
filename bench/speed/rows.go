package speed

import (
	"github.com/hushgrad/hushgrad/bench/speed/probe"
	"github.com/hushgrad/hushgrad/sparse"
)

// row is one quantity of the table.
type row struct {
	probe.Work        // measures it; of Kind "" if a command does
	quantity   string // of those that Work measures, or binarySize or demoTime
	unit       string
	scale      float64 // units in one of what Work measures
	aim        float64 // 0: none
	atLeast    bool    // the aim is a least value and no largest one
}

// What commands measure.
const (
	binarySize = "size of the hushgrad binary"
	demoTime   = "examples/mnist without flags, after compilation"
)

// rows are what is measured.
func rows(quick bool) (out []row) {
	out = append(decoding(quick), client(quick)...)
	round := probe.Work{Kind: probe.Round, Hash: sparse.HashGF2, Dim: 10_000_000, Sparsity: 64, Epsilon: 5, Reports: 10_000, Repeats: 1}
	ingest := probe.Work{Kind: probe.Ingest, Hash: sparse.HashGF2, Dim: 7850, Sparsity: 64, Epsilon: 5, Reports: 2_000_000, Repeats: 1}
	if quick {
		round.Dim, ingest.Reports = 100_000, 50_000
	}
	plan, losses := probe.Work{Kind: probe.Plan, Repeats: 1}, probe.Work{Kind: probe.Losses, Repeats: 1}
	out = append(out,
		row{Work: round, quantity: probe.Open, unit: "s", scale: 1, aim: 0.5},
		row{Work: round, quantity: probe.Memory, unit: "MB", scale: 1e-6, aim: 200},
		row{Work: round, quantity: probe.Close, unit: "s", scale: 1, aim: 1},
		row{Work: plan, quantity: probe.PlanTime, unit: "s", scale: 1, aim: 0.7},
		row{Work: losses, quantity: probe.Gaussian, unit: "s", scale: 1, aim: 0.2},
		row{Work: losses, quantity: probe.Shuffled, unit: "s", scale: 1, aim: 0.2},
		row{Work: ingest, quantity: probe.IngestRate, unit: "reports/s", scale: 1, aim: 2e6, atLeast: true},
	)
	if !quick {
		out = append(out,
			row{quantity: binarySize, unit: "MB", scale: 1e-6, aim: 20},
			row{quantity: demoTime, unit: "s", scale: 1, aim: 15})
	}
	return out
}

// decoding are the reports of the server, with two sizes of reports and both families.
func decoding(quick bool) (out []row) {
	dims := []int{1 << 10, 1 << 14, 1 << 17, 1 << 20}
	if quick {
		dims = dims[:2]
	}
	aims := map[probe.Work]float64{
		{Hash: sparse.HashGF2, Sparsity: 64, Dim: 1 << 10}: 100,
		{Hash: sparse.HashGF2, Sparsity: 64, Dim: 1 << 17}: 250,
		{Hash: sparse.HashGF2, Sparsity: 64, Dim: 1 << 20}: 800,
		{Hash: sparse.HashGF2, Sparsity: 8, Dim: 1 << 20}:  120,
	}
	for _, size := range []struct {
		sparsity int
		epsilon  float64
	}{{8, 1}, {64, 5}} {
		for _, hash := range []string{sparse.HashGF2, sparse.HashIdeal} {
			for _, dim := range dims {
				aim := aims[probe.Work{Hash: hash, Sparsity: size.sparsity, Dim: dim}]
				w := probe.Work{Kind: probe.Decode, Hash: hash, Dim: dim, Sparsity: size.sparsity, Epsilon: size.epsilon, Repeats: 15, Seconds: 1}
				if hash == sparse.HashGF2 {
					w.Reports = 1 << 16
				}
				if quick {
					w.Repeats, w.Seconds = 3, 0.01
					w.Reports = min(w.Reports, 1<<14)
				}
				out = append(out, row{Work: w, quantity: probe.Decode, unit: "ns", scale: 1e9, aim: aim})
			}
		}
	}
	return out
}

// client are the operations of a client.
func client(quick bool) []row {
	encode := probe.Work{Kind: probe.Encode, Hash: sparse.HashGF2, Dim: 7850, Sparsity: 64, Epsilon: 5, Repeats: 200, Seconds: 1}
	ternary := encode
	ternary.Kind = probe.Ternary
	join := probe.Work{Kind: probe.Join, Hash: sparse.HashGF2, Dim: 1_000_000, Sparsity: 128, Epsilon: 5, Repeats: 20, Seconds: 1}
	if quick {
		join.Dim, join.Repeats, encode.Repeats, ternary.Repeats = 100_000, 3, 3, 3
	}
	return []row{
		{Work: encode, quantity: probe.Encode, unit: "µs", scale: 1e6, aim: 8},
		{Work: ternary, quantity: probe.Ternary, unit: "µs", scale: 1e6},
		{Work: join, quantity: probe.JoinTime, unit: "ms", scale: 1e3, aim: 10},
		{Work: join, quantity: probe.JoinMemory, unit: "gradients", scale: 1, aim: 2},
	}
}
