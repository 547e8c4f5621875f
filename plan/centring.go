package plan

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Centring is the first round of a run about clients' features. Its reports are about the features themselves, and not about a gradient: they have the
// mechanism, the clip and the ε of every other round. All later rounds train on features around the mean of this round.
//
// Features that are fitted on public pictures have their mean near 0 on such pictures. On other pictures they have a mean in common, which tells no class
// apart. Steps along it overshoot, and it makes gradients longer than they need be.
type Centring struct {
	// Features is the number of features of an example.
	Features int `json:"features"`
	// Magnitude is what a client multiplies its features by, so that the mechanism clips nothing.
	Magnitude float64 `json:"magnitude"`
	// Norm is the largest L2 norm of an example's features.
	Norm float64 `json:"norm"`
	// Error is the expected standard error of a coordinate of the mean, in units of the features.
	Error float64 `json:"error"`
}

// LeastCentred is the least number of rounds of a run that spends one on centring. It is a tenth of the budget then.
const LeastCentred = 10

// centre has the run begin with a round about features, where that is asked for and worth a round.
func (run *Run) centre(q Request) error {
	n, err := run.noiseOfRound()
	if err == nil {
		run.Centring = q.centring(run.Affordable, run.Template.Scale, run.Sparsity, n.deviation)
	}
	return err
}

// centring is a round about features, and nil where there are too few rounds, or the mean's error is above the norm of the features. The mechanism clips
// to scale, or where it is sparse the L1 norm to sparsity times scale. deviation is the standard error of a coordinate of a gradient.
func (q Request) centring(rounds int, scale float64, sparsity int, deviation float64) *Centring {
	if !q.Centre || q.Examples == nil || rounds < LeastCentred {
		return nil
	}
	features, norm := len(q.Examples.x[0]), q.Examples.largest()
	c := NewCentring(features, norm, scale, sparsity)
	c.Error = deviation / c.Magnitude
	if c.Error*math.Sqrt(float64(features)) > norm {
		return nil
	}
	return c
}

// NewCentring is a round about features of at most an L2 norm, for a mechanism that clips the L2 norm to scale. A sparse mechanism clips the L1 norm to
// sparsity times scale, and each coordinate to scale: sparsity is 0 for the others. The Error is not known.
func NewCentring(features int, norm, scale float64, sparsity int) *Centring {
	magnitude := scale / norm
	if sparsity > 0 {
		magnitude *= min(1, float64(sparsity)/math.Sqrt(float64(features)))
	}
	return &Centring{Features: features, Magnitude: magnitude, Norm: norm}
}

// Answer writes into dst, of the length of a gradient, what a client reports about its features: it answers with their mean over its examples.
func (c *Centring) Answer(dst []float64, examples ...[]float64) {
	clear(dst)
	for _, x := range examples {
		floats.AddScaled(dst[:c.Features], c.Magnitude/float64(len(examples)), x)
	}
}

// Mean is the mean of the features that a round has found. Where noise is large, it is nearer to 0 than the estimate is (James and Stein): a mean
// that cannot be told from noise is 0. So are coordinates at which clients lie: see fl.Estimate.Suspects.
func (c *Centring) Mean(e *fl.Estimate) []float64 {
	mean := make([]float64, c.Features)
	floats.AddScaled(mean, 1/c.Magnitude, e.Mean().Value[:c.Features])
	for _, j := range e.Suspects {
		if j < c.Features {
			mean[j] = 0
		}
	}
	shrink(mean, e.NoiseNorm/math.Sqrt(float64(len(e.Mean().Value)))/c.Magnitude)
	return mean
}

// shrink multiplies a mean by the positive part of 1 − noise² over its square, where each coordinate has the standard error deviation.
func shrink(mean []float64, deviation float64) {
	square := floats.Dot(mean, mean)
	if noise := float64(len(mean)) * deviation * deviation; noise > 0 {
		floats.Scale(max(0, 1-noise/square), mean)
	}
}

// Around moves each vector so that a mean becomes 0, and gives it back its norm: what a client does with its features in all rounds but the first. A vector
// that is the mean stays 0.
func Around(mean []float64, vectors ...[]float64) {
	for _, x := range vectors {
		norm := math.Sqrt(floats.Dot(x, x))
		floats.Sub(x, mean)
		if moved := math.Sqrt(floats.Dot(x, x)); moved > 0 {
			floats.Scale(norm/moved, x)
		}
	}
}

func (c *Centring) String() string {
	return fmt.Sprintf("the first round learns the features' mean among the clients, which a public mean only guesses. The round's reports have the same clip and the same ε as all others. The other rounds train on features around that mean. The plan counts on an error of %.0f %% of the features' length in it",
		100*c.Error*math.Sqrt(float64(c.Features))/c.Norm)
}

// rehearsed returns the examples around a mean of the features of some of them, with noise.
func (c *Centring) rehearsed(on *Examples, some []int, noisy bool, rng *rand.Rand) *Examples {
	mean := make([]float64, c.Features)
	for _, i := range some {
		floats.AddScaled(mean, 1/float64(len(some)), on.x[i])
	}
	if noisy {
		for j := range mean {
			mean[j] += c.Error * rng.NormFloat64()
		}
		shrink(mean, c.Error)
	}
	around := *on
	around.x = make([][]float64, len(on.x))
	for i, x := range on.x {
		around.x[i] = append([]float64(nil), x...)
	}
	Around(mean, around.x...)
	return &around
}

// largest is the largest L2 norm of an example.
func (e *Examples) largest() float64 {
	square := 0.
	for _, x := range e.x {
		square = max(square, floats.Dot(x, x))
	}
	return math.Sqrt(square)
}
