package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/privunit"
	"github.com/hushgrad/hushgrad/sparse"
)

// design is a mechanism at all parameters that a plan may choose. A *sparse.Scheme is one.
type design interface {
	Name() string
	Likely(sparsity int) int
	BestSlots(p sparse.Point) (int, error)
	BestSlotsAt(p sparse.Point, epsilon func(slots int) float64) (int, error)
	MSE(p sparse.Point) (float64, error)
	Blanket(p sparse.Point) (*privacy.Blanket, error)
	Params(p sparse.Point) fl.Params
}

// ranked is privunit as a design. Its candidates are slots, and those with the weight e^ε are the
// entries: a report names one of k, of which r are likely. Errors are in units of the clip.
type ranked struct{}

func (ranked) Name() string            { return privunit.Name }
func (ranked) Likely(sparsity int) int { return sparsity }

func (ranked) BestSlots(sparse.Point) (int, error) { return privunit.DefaultCandidates, nil }

func (ranked) BestSlotsAt(sparse.Point, func(int) float64) (int, error) {
	return privunit.DefaultCandidates, nil
}

func (ranked) MSE(p sparse.Point) (float64, error) { return rankedPoint(p).MSE() }

func (ranked) Blanket(p sparse.Point) (*privacy.Blanket, error) { return rankedPoint(p).Blanket() }

func (ranked) Params(p sparse.Point) fl.Params { return rankedPoint(p).Params() }

func rankedPoint(p sparse.Point) privunit.Point {
	return privunit.Point{Dim: p.Dim, Epsilon: p.Epsilon, Candidates: p.Slots, Likely: p.Sparsity}
}

// designs returns the mechanisms that are planned. The first one wins where errors are equal.
func designs() []design {
	var all []design
	for _, s := range mechanisms.Schemes() {
		all = append(all, s)
	}
	return append(all, ranked{})
}

// shape is what becomes of a client's gradient before it is randomized.
type shape struct {
	sparsity int     // entries s of a sparse mechanism; likely candidates r of privunit
	scale    float64 // τ; C of privunit
	kept     *kept   // of the public sample; nil: there is none
	clip     float64 // in units of a gradient: shapes with the same one differ in sparsity alone
}

// length is the L2 norm of a gradient of this shape: the public sample's mean, and otherwise the largest one.
func (s shape) length(c design) float64 {
	if s.kept != nil {
		return s.kept.length
	}
	if _, ok := c.(ranked); ok {
		return s.scale
	}
	return s.scale * math.Sqrt(float64(s.sparsity))
}

// ternary is the variance of a client's ternary vector, see kept, and 0 without a sample, where the shape is the ternary vector's own.
func (s shape) ternary() float64 {
	if s.kept == nil {
		return 0
	}
	return s.kept.ternary
}

// noise is the standard error of a coordinate of a round's mean under a plan, in units of the gradient.
func (s shape) noise(p Plan, dim int) float64 {
	return math.Sqrt(p.Error*p.Error*s.scale*s.scale + s.ternary()/float64(dim*p.Cohort))
}

// clips are tried as shares of the mean norm of public gradients. Where gradients at the first model have the norm that
// is clipped to, later ones are shorter: smaller clips win, and the smallest one whose loss is nearly the least is
// taken.
var clips = []float64{0.2, 0.4, 0.7, 1, 1.5}

// A run that converges ends where the mean of clipped gradients is zero. A short clip moves that model away from the best one, at which
// gradients of examples differ in length, so the longest clip is taken that leaves nearly as much signal. convergingClips are tried then.
var convergingClips = append(slices.Clone(clips), 2, 3)

// signalKept is the share of the largest signal, 1 less the loss, that a longer clip has to leave.
const signalKept = 0.98

// nearly is how much larger a loss may be that counts as the least.
const nearly = 1.02

// warmClip is the clip of a run that starts from a public model, over the norm of gradients at a model of zeros.
// Most examples then have short gradients, and each of the others a vote.
const warmClip = 0.1

// shapes returns those to choose from, with growing clips.
func (t Training) shapes(c design) (out []shape) {
	factors := clips
	switch {
	case t.Warm:
		factors = []float64{warmClip}
	case t.Public == nil || t.Clip > 0:
		factors = []float64{1}
	case t.Converges:
		factors = convergingClips
	}
	_, whole := c.(ranked)
	for _, f := range factors {
		if whole {
			clip := cmp.Or(t.Clip, f*t.L2)
			var left *kept
			if t.Public != nil {
				left = t.Public.kept(wholeClip(clip))
			}
			for _, r := range likely {
				out = append(out, shape{r, clip, left, f})
			}
			continue
		}
		l1 := cmp.Or(t.Clip, f*t.L1)
		for _, s := range t.sparsities() {
			one := shape{sparsity: s, scale: l1 / float64(s), clip: f}
			if t.Public != nil {
				one.kept = t.Public.kept(ternaryClip(s, one.scale))
			}
			out = append(out, one)
		}
	}
	return out
}

// likely are the numbers of likely candidates that are tried: the best ones for an ε from 0.2 to 10, of 256.
var likely = []int{1, 2, 3, 4, 6, 8, 11, 14, 17, 22, 28, 36, 45, 55, 65, 75, 82, 89, 96, 107, 117}

// sparsities are the numbers of entries that are tried: one without a public sample.
func (t Training) sparsities() []int {
	planned, _ := t.Shape()
	if t.Public == nil || t.Sparsity > 0 {
		return []int{planned}
	}
	var out []int
	for s := 1.0; s <= min(2*float64(planned), float64(t.Dim)); s *= math.Sqrt2 {
		if n := int(math.Round(s)); len(out) == 0 || n > out[len(out)-1] {
			out = append(out, n)
		}
	}
	return out
}

// best returns the shape of a mechanism that has the smallest loss in a demand, by weights (see weight), and the point there.
func (t Training) best(c design, d Demand) (best shape, err error) {
	within := weightWithin(d.Epsilon, d.Delta, d.cohort(), d.Participations)
	reports := float64(d.cohort()) * float64(t.Rounds)
	least := math.Inf(1)
	var ofClip []shape // the best shape of each clip
	var losses []float64
	for _, one := range t.shapes(c) {
		d.Sparsity = one.sparsity
		p, failed := d.likely(c, within)
		mse := 0.
		if failed == nil {
			mse, failed = c.MSE(p)
		}
		var shift float64
		if failed == nil {
			shift, failed = t.shift(c, p, one.scale)
		}
		if failed != nil {
			err = failed
			continue
		}
		loss := (mse*one.scale*one.scale+one.ternary())/reports + shift*shift
		if one.kept != nil {
			loss = t.Public.loss(*one.kept, loss)
		}
		if loss*nearly < least || loss < least && best.clip == one.clip {
			best, least = one, loss
		}
		if last := len(ofClip) - 1; last < 0 || ofClip[last].clip != one.clip {
			ofClip, losses = append(ofClip, one), append(losses, loss)
		} else if loss < losses[last] {
			ofClip[last], losses[last] = one, loss
		}
	}
	if math.IsInf(least, 1) {
		return best, err
	}
	if t.Converges && best.kept != nil {
		best = ofClip[longest(losses)]
	}
	return best, nil
}

// longest returns the last of some growing clips that leaves nearly as much signal as the best one. losses are shares of the signal.
func longest(losses []float64) int {
	signal := signalKept * (1 - slices.Min(losses))
	last := len(losses) - 1
	for 1-losses[last] < signal {
		last--
	}
	return last
}

// likely is the point of a mechanism at the ε that the demand allows: the given one, or about the largest within
// a weight.
func (d Demand) likely(c design, within float64) (sparse.Point, error) {
	at := func(int) float64 { return d.EpsilonLocal }
	if d.Epsilon > 0 {
		at = func(slots int) float64 { return d.limited(epsilonOf(c.Likely(d.Sparsity), slots, within)) }
	}
	p := d.point()
	slots, err := c.BestSlotsAt(p, at)
	if err == nil {
		p.Slots, p.Epsilon = slots, at(slots)
	}
	return p, err
}
