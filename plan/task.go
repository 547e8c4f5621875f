package plan

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/fl"
)

// DemoFeatures are those that examples/mnist uses unless it is told otherwise, and AutoFeatures
// leaves them to Request.ChooseFeatures.
const (
	DemoFeatures = "glyphs"
	AutoFeatures = "auto"
)

// Task is softmax regression on features of pictures, and what is known of it beforehand: a gradient's
// coordinates and its mean norms at the first model, on generated digits.
type Task struct {
	// Features is their name.
	Features string  `json:"features"`
	Dim      int     `json:"dim"`
	L1       float64 `json:"l1"`
	L2       float64 `json:"l2"`
	// Centred is as in Training.
	Centred bool `json:"centred"`
}

// NewTask returns the task of features whose accuracy was measured on public pictures. The error names
// features and lists the known ones.
func NewTask(features string) (Task, error) {
	curves, err := measured()
	if err != nil {
		return Task{}, err
	}
	known := map[string]Task{}
	for _, c := range curves {
		known[c.Features] = c.Task
	}
	t, ok := known[features]
	if !ok {
		return Task{}, fmt.Errorf("plan: %w", fl.Invalid("features", features, "must be one of %s, whose accuracy was measured", strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
	}
	return t, nil
}

// Of returns the request for this task.
func (t Task) Of(q Request) Request {
	q.Dim, q.L1, q.L2, q.Centred = t.Dim, t.L1, t.L2, t.Centred
	return q
}

// is reports whether a request is for this task.
func (t Task) is(q Request) bool {
	near := func(v, want float64) bool { return math.Abs(v-want) < 1e-3*want }
	return q.Dim == t.Dim && near(q.L1, t.L1) && near(q.L2, t.L2) && q.Centred == t.Centred
}

// measuredFiles are results of go run ./bench accuracy, called after the public pictures and the features.
//
//go:embed measured/*.json
var measuredFiles embed.FS

// sample is a run that was measured, as often as there are repeats.
type sample struct {
	Task
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

// curve is what was measured of a task on public pictures.
type curve struct {
	Task
	public  string // pictures
	command string
	rows    []sample // with growing noise
	exact   float64  // accuracy without noise
}

// measured returns all curves, sorted by public pictures and features.
var measured = sync.OnceValues(func() ([]curve, error) {
	files, err := measuredFiles.ReadDir("measured")
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	var out []curve
	for _, f := range files {
		raw, err := measuredFiles.ReadFile(path.Join("measured", f.Name()))
		if err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		public, _, _ := strings.Cut(f.Name(), "-")
		c, err := readCurve(raw, public)
		if err != nil {
			return nil, fmt.Errorf("plan: measured/%s: %w", f.Name(), err)
		}
		out = append(out, c)
	}
	return out, nil
})

// readCurve reads the curve of a result file.
func readCurve(raw []byte, public string) (curve, error) {
	var file struct {
		Command string
		Rows    []sample
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return curve{}, err
	}
	c := curve{public: public, command: file.Command}
	for _, s := range file.Rows {
		switch s.Mechanism {
		case auto.Name:
			c.Task, c.rows = s.Task, append(c.rows, s)
		case dense.Name:
			c.exact = s.Accuracy
		}
	}
	if len(c.rows) == 0 || c.exact == 0 {
		return curve{}, fl.Invalid("rows", len(file.Rows), "must have some of %s and one of %s", auto.Name, dense.Name)
	}
	slices.SortFunc(c.rows, func(a, b sample) int { return cmp.Compare(a.Noise, b.Noise) })
	return c, nil
}

// between returns the measured runs with the next smaller and the next larger noise, and how far on the
// way from one to the other a noise is, over its logarithm. ok is false outside the measured range.
func (c curve) between(noise float64) (less, more sample, share float64, ok bool) {
	const same = 1e-6 // noise of plans for the same question on different machines
	i := slices.IndexFunc(c.rows, func(s sample) bool { return s.Noise >= noise*(1-same) })
	if i < 0 || i == 0 && c.rows[0].Noise > noise*(1+same) {
		return sample{}, sample{}, 0, false
	}
	more = c.rows[i]
	less = more
	if more.Noise > noise*(1+same) {
		less = c.rows[i-1]
		share = math.Log(noise/less.Noise) / math.Log(more.Noise/less.Noise)
	}
	return less, more, share, true
}

// near returns the accuracy at a noise: outside the range of the measured runs the nearest run's accuracy, and
// at 0 the accuracy without privacy.
func (c curve) near(noise float64) float64 {
	first, last := c.rows[0], c.rows[len(c.rows)-1]
	switch {
	case noise == 0:
		return c.exact
	case noise <= first.Noise:
		return first.Accuracy
	case noise >= last.Noise:
		return last.Accuracy
	}
	less, more, share, _ := c.between(noise)
	return less.Accuracy + share*(more.Accuracy-less.Accuracy)
}
