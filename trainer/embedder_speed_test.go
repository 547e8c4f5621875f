package trainer

import "testing"

func BenchmarkEmbedder(b *testing.B) {
	in := Input{Channels: 1, Height: 28, Width: 28}
	m, err := NewEmbedder(in, 62, [3]int{8, 16, 32}, 64)
	if err != nil {
		b.Fatal(err)
	}
	b.Log(m.Dim())
	const n = 64
	w, err := m.NewWorker(n)
	if err != nil {
		b.Fatal(err)
	}
	rng := testRand(1)
	p, g := m.Init(rng), make([]float64, m.Dim())
	x := make([][]float64, n)
	labels := make([]int, n)
	for i := range x {
		x[i] = make([]float64, in.Size())
		for j := range x[i] {
			x[i][j] = rng.Float64()
		}
		labels[i] = i % 62
	}
	for b.Loop() {
		if _, err := w.Gradient(g, p, x, labels); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/glyph")
}
