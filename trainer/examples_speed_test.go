package trainer

import (
	"fmt"
	"testing"
)

func TestGradientDoesNotAllocate(t *testing.T) {
	c := cnnCase(t, Input{1, 12, 12}, 4, 2, 3)
	rng := testRand(1)
	x, labels := c.examples(rng, 2)
	e := must[*Examples](t)(c.model.NewExamples(2))
	defer e.Close()
	if _, err := e.Run(c.params(rng), x, labels); err != nil {
		t.Fatal(err)
	}
	dst := make([]float64, c.model.Dim())
	if n := testing.AllocsPerRun(10, func() { _, _ = e.Gradient(dst, 1), e.Shrunk(dst, 0) }); n != 0 {
		t.Errorf("got %g allocations", n)
	}
}

// Gradients of single examples. Two pixels in three are black, as in
// handwritten digits of 14×14 pixels: the runs and the outer products together,
// and beside them one run of a Worker for each.
func BenchmarkExamples(b *testing.B) {
	for _, name := range ModelNames() {
		in := Input{1, 14, 14}
		c := testCase{model: must[*Model](b)(NewModel(name, in, 10)), in: in, classes: 10}
		const batch = 256
		rng := testRand(1)
		x, labels := c.examples(rng, batch)
		for _, e := range x {
			for i := range e {
				if rng.IntN(3) > 0 {
					e[i] = 0
				}
			}
		}
		p, g := c.params(rng), make([]float64, c.model.Dim())
		report := func(b *testing.B) {
			n := float64(b.N * batch)
			b.ReportMetric(n/b.Elapsed().Seconds(), "gradients/s")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/n, "µs/gradient")
		}
		b.Run(fmt.Sprintf("%s/d=%d/together", name, c.model.Dim()), func(b *testing.B) {
			e := must[*Examples](b)(c.model.NewExamples(batch))
			defer e.Close()
			for b.Loop() {
				if _, err := e.Run(p, x, labels); err != nil {
					b.Fatal(err)
				}
				for i := range x {
					if err := e.Shrunk(g, i); err != nil {
						b.Fatal(err)
					}
				}
			}
			report(b)
		})
		b.Run(fmt.Sprintf("%s/d=%d/alone", name, c.model.Dim()), func(b *testing.B) {
			w := must[*Worker](b)(c.model.NewWorker(1))
			defer w.Close()
			for b.Loop() {
				for i := range x {
					if _, err := w.Gradient(g, p, x[i:i+1], labels[i:i+1]); err != nil {
						b.Fatal(err)
					}
					if err := ShrinkL1(c.model, g); err != nil {
						b.Fatal(err)
					}
				}
			}
			report(b)
		})
	}
}
