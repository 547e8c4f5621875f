package keyvalues

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// metric is a distance of an estimate from the truth, as Section 8 of Wang et al. defines it:
// the sum of absolute errors (TVE) or the largest one (MAE), of the frequencies of the 2d items
// after the projection on the simplex, or of the d unconditional means.
type metric int

const (
	frequencyTVE metric = iota
	frequencyMAE
	meanMAE     // without post-processing
	meanMAEPost // of the differences of projected item frequencies
	meanTVEPost
)

var metrics = []metric{frequencyTVE, frequencyMAE, meanMAE, meanMAEPost, meanTVEPost}

// of means or of frequencies.
func (m metric) ofMeans() bool { return m >= meanMAE }

// name is the metric in rows, title on axes.
func (m metric) name() string {
	return [...]string{"frequency_tve", "frequency_mae", "mean_mae", "mean_mae_post", "mean_tve_post"}[m]
}

func (m metric) title() string {
	return [...]string{
		"total variation error of frequencies", "largest error of a frequency", "largest error of a mean",
		"largest error of a post-processed mean", "total variation error of post-processed means",
	}[m]
}

// estimate is what a mechanism says about each key: the share of the clients that hold it and the
// unconditional mean. frequency is nil for mechanisms without it.
type estimate struct{ frequency, mean []float64 }

// newEstimate takes the columns of a round's estimate.
func newEstimate(e *fl.Estimate) estimate {
	frequency, _ := e.Column(fl.ColumnFrequency)
	return estimate{frequency.Value, e.Mean().Value}
}

// logErrors returns the natural logarithms of the distances of an estimate from the truth. Means
// without frequencies are not post-processed.
func (p *population) logErrors(e estimate, by []metric) ([]float64, error) {
	truth, post := items(p.held, p.sum), e.mean
	var projected []float64
	if e.frequency != nil {
		projected = items(e.frequency, e.mean)
		if err := keyvalue.Simplex(projected, projected, float64(p.sparsity)); err != nil {
			return nil, err
		}
		post = make([]float64, p.dim)
		for k := range post {
			post[k] = projected[2*k] - projected[2*k+1]
		}
	}
	var out []float64
	for _, m := range by {
		distance := 0.0
		switch m {
		case frequencyTVE:
			distance = floats.Distance(projected, truth, 1)
		case frequencyMAE:
			distance = floats.Distance(projected, truth, math.Inf(1))
		case meanMAE:
			distance = floats.Distance(e.mean, p.sum, math.Inf(1))
		case meanMAEPost:
			distance = floats.Distance(post, p.sum, math.Inf(1))
		case meanTVEPost:
			distance = floats.Distance(post, p.sum, 1)
		}
		out = append(out, math.Log(distance))
	}
	return out, nil
}

// items returns the frequencies of each key with + and with −.
func items(held, sum []float64) []float64 {
	out := make([]float64, 0, 2*len(held))
	for k := range held {
		out = append(out, (held[k]+sum[k])/2, (held[k]-sum[k])/2)
	}
	return out
}
