package training

import (
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

// Clips follow the norms of clients' gradients: shorter ones for clients with more pictures, and longer
// ones again where the pictures are alike. Learning rates follow the norms of one picture, whatever
// clients hold.
func TestNormsAreThoseOfClients(t *testing.T) {
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 400, 10), dataset.Edges)
	if err != nil {
		t.Fatal(err)
	}
	s := sweep{rounds: 30, delta: 1e-6}
	var norms, pictures []float64
	for _, c := range []struct {
		clients int
		skew    float64
	}{{400, 0}, {40, 0}, {40, 0.1}} {
		task.clients, task.skew = c.clients, c.skew
		d, err := s.demands(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		norms, pictures = append(norms, d.L2), append(pictures, task.pictureL2)
		at := setting{Training: d, pictureL2: task.pictureL2, server: planAll}
		if got, want := at.steps(0), (setting{Training: d, server: planAll}).steps(0); (got == want) != (c.clients == 400) {
			t.Errorf("%d clients: steps %+v with the norm of a picture, %+v with the norm of a client", c.clients, got, want)
		}
	}
	if norms[0] != pictures[0] || pictures[1] != pictures[0] || pictures[2] != pictures[0] {
		t.Errorf("norms of a picture %g, of a client %g", pictures, norms)
	}
	if !(norms[1] < clientClip*norms[0]/2 && norms[2] > 1.3*norms[1] && norms[2] < clientClip*norms[0]) { // seeded
		t.Errorf("norms of a client %g", norms)
	}
}
