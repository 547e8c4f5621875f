package trainer

import "testing"

// Each model learns to distinguish horizontal from vertical stripes of random phase
// and contrast.
func TestLearning(t *testing.T) {
	in := Input{Channels: 1, Height: 10, Width: 10}
	for _, name := range ModelNames() {
		m := must[*Model](t)(NewModel(name, in, 2))
		rng := testRand(1)
		var x [][]float64
		var labels []int
		for k := range 40 {
			e := make([]float64, in.Size())
			amplitude := 0.5 + rng.Float64()
			for i := range e {
				row, column := i/10, i%10
				if k%2 == 0 {
					row = column
				}
				e[i] = amplitude * float64(row%2)
			}
			x, labels = append(x, e), append(labels, k%2)
		}
		w := must[*Worker](t)(m.NewWorker(16))
		o := must[*Optimizer](t)(NewOptimizer(OptimizerConfig{Name: "momentum", LearningRate: 0.05, Momentum: 0.8}, m.Dim()))
		p, g := m.Init(rng), make([]float64, m.Dim())
		for range 60 {
			if _, err := w.Gradient(g, p, x, labels); err != nil {
				t.Fatal(err)
			}
			if err := o.Step(p, g); err != nil {
				t.Fatal(err)
			}
		}
		e := must[*Evaluator](t)(m.NewEvaluator(16))
		accuracy, loss, err := e.Evaluate(p, x, labels)
		if err != nil || accuracy != 1 || loss > 0.1 {
			t.Errorf("%s: accuracy %g, loss %g, %v", name, accuracy, loss, err)
		}
	}
}
