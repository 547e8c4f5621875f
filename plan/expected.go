package plan

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/hushgrad/hushgrad/auto"
)

// Expected is the test accuracy of a run like those that were measured.
type Expected struct {
	// Accuracy is between those of the measured runs with the next smaller and the next larger
	// noise, on a line over the logarithm of the noise.
	Accuracy float64 `json:"accuracy"`
	// Error is how far a single run may be off, about 95 times in 100: accuracy falls as noise
	// grows, so that it is between the prediction intervals of the two.
	Error float64 `json:"error"`
	// Command measured it, on generated digits.
	Command string `json:"command"`
}

func (e Expected) String() string {
	return fmt.Sprintf("%.3f ± %.3f on generated digits (measured by `%s`)", e.Accuracy, math.Ceil(1000*e.Error)/1000, e.Command)
}

// DemoDim, DemoL1 and DemoL2 are the coordinates and the norms of a gradient of softmax
// regression at its first model, on generated digits in oriented edges: what examples/mnist
// measures before it plans. This is the task whose accuracy was measured.
const (
	DemoDim = 1970
	DemoL1  = 7.121229
	DemoL2  = 1.414214
)

// measuredFile is what the command in it left.
//
//go:embed measured/accuracy.json
var measuredFile []byte

// sample is a run that was measured, as often as there are repeats.
type sample struct {
	Mechanism      string  `json:"mechanism"`
	Rounds         int     `json:"rounds"`
	Participations int     `json:"participations"`
	Clients        int     `json:"clients"`
	Noise          float64 `json:"planned_noise"`
	Accuracy       float64 `json:"accuracy"`
	Low            float64 `json:"low"`
	High           float64 `json:"high"`
	Repeats        int     `json:"repeats"`
}

// half is half of the interval in which a single further run is, 95 times in 100: Low and High
// are Student's interval of the mean.
func (s sample) half() float64 { return (s.High - s.Low) / 2 * math.Sqrt(float64(s.Repeats)+1) }

// curve is what was measured, with growing noise.
type curve struct {
	Command string   `json:"command"`
	Rows    []sample `json:"rows"`
}

var measured = sync.OnceValues(func() (curve, error) {
	var c curve
	if err := json.Unmarshal(measuredFile, &c); err != nil {
		return c, fmt.Errorf("plan: measured/accuracy.json: %w", err)
	}
	c.Rows = slices.DeleteFunc(c.Rows, func(s sample) bool { return s.Mechanism != auto.Name })
	slices.SortFunc(c.Rows, func(a, b sample) int { return cmp.Compare(a.Noise, b.Noise) })
	return c, nil
})

// at returns the accuracy at a noise within the measured range.
func (c curve) at(noise float64) (Expected, bool) {
	const same = 1e-6 // noise of plans for the same question on different machines
	i := slices.IndexFunc(c.Rows, func(s sample) bool { return s.Noise >= noise*(1-same) })
	if i < 0 || i == 0 && c.Rows[0].Noise > noise*(1+same) {
		return Expected{}, false
	}
	more := c.Rows[i]
	less := more
	if more.Noise > noise*(1+same) {
		less = c.Rows[i-1]
	}
	share := 0.0
	if less.Noise < more.Noise {
		share = math.Log(noise/less.Noise) / math.Log(more.Noise/less.Noise)
	}
	accuracy := less.Accuracy + share*(more.Accuracy-less.Accuracy)
	low := min(more.Accuracy-more.half(), less.Accuracy-less.half())
	high := max(more.Accuracy+more.half(), less.Accuracy+less.half())
	return Expected{Accuracy: accuracy, Error: max(accuracy-low, high-accuracy), Command: c.Command}, true
}

// expected returns the accuracy of a run that is planned like those that were measured, and false
// for any other.
func (run *Run) expected(q Request) (Expected, bool, error) {
	c, err := measured()
	if err != nil || run.Schedule == nil || len(c.Rows) == 0 {
		return Expected{}, false, err
	}
	like, near := c.Rows[0], func(v, want float64) bool { return math.Abs(v-want) < 1e-3*want }
	if q.Mechanism != auto.Name || q.Centred || q.Dim != DemoDim || !near(q.L1, DemoL1) || !near(q.L2, DemoL2) ||
		q.Sparsity != 0 || q.Clip != 0 || q.LearningRate != 0 || q.MaxLearningRate != 0 ||
		q.Clients != like.Clients || run.Cohort != run.Clients || run.Rounds != like.Rounds || run.Affordable != run.Rounds {
		return Expected{}, false, nil
	}
	e, ok := c.at(run.Schedule.Noise)
	return e, ok, nil
}
