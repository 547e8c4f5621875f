package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// ErrNoise is returned for a run whose noise would hide what it is to learn. The error says what would not be refused.
// It promises no accuracy.
var ErrNoise = errors.New("more noise than signal")

// Outlook is what noise leaves of a run, in public numbers.
type Outlook struct {
	// Noise is the standard error of a coordinate of the mean over all rounds, in units of the gradient, and NoiseL2 the
	// L2 norm of that mean's error.
	Noise   float64 `json:"noise"`
	NoiseL2 float64 `json:"noise_l2"`
	// Slope is the share of the public sample's mean gradient that the clip leaves, and SignalToNoise is the norm of what is left
	// over NoiseL2, at a model of zeros. They are nil without a sample, and
	// Slope where no mean stands out of it.
	Slope         *float64 `json:"slope"`
	SignalToNoise *float64 `json:"signal_to_noise"`
	// Votes is Noise in units of a clipped gradient's L2 norm: the sample's mean, and without a sample the largest one.
	Votes float64 `json:"votes"`
	// ZeroShot is the public model's accuracy, and Accuracy the one to expect of the run. They are 0 without a public model, and
	// Accuracy is 0 for other numbers of classes than ten, on which nothing was measured.
	ZeroShot float64 `json:"zero_shot_accuracy"`
	Accuracy float64 `json:"expected_accuracy"`
	// Factor is by how much the public model is multiplied, 0 without one: see Run.First.
	Factor float64 `json:"warm_factor"`
}

// foresee fills in the outlook of a run with a public sample or a public model.
func (run *Run) foresee(q Request) {
	if q.Public == nil && q.ZeroShot == 0 {
		return
	}
	o := &Outlook{ZeroShot: q.ZeroShot}
	noise, length, left := run.noise(q)
	if noise == 0 {
		return // nothing is planned about this mechanism's noise
	}
	o.Noise, o.NoiseL2, o.Votes = noise, noise*math.Sqrt(float64(run.Dim)), noise/length
	if left != nil {
		ratio := left.ratio(o.NoiseL2 * o.NoiseL2)
		o.Slope, o.SignalToNoise = q.Public.slope(*left), &ratio
	}
	run.Outlook = o
	if q.ZeroShot > 0 {
		o.Factor = warmFactor(o.Votes)
		if q.Examples == nil || q.Examples.classes == warmClasses {
			o.Accuracy = 1 - (1-q.ZeroShot)*warmRest(o.Votes)
		}
	}
}

// judge refuses a run that would learn nothing. From a model that knows nothing, a rehearsal decides where there is one, and otherwise
// whether the noise of the whole run is above its signal.
func (run *Run) judge(ctx context.Context, q Request, rehearsed *rehearsal) error {
	o := run.Outlook
	switch {
	case o == nil || q.Force:
		return nil
	case q.ZeroShot > 0 && o.Votes >= hopelessVotes:
		return run.refuse(o.Votes/hopelessVotes*refusalMargin, fmt.Sprintf("the run may well end below the public model's accuracy of %.3g", q.ZeroShot))
	case q.ZeroShot > 0 && !(o.Accuracy == 0 && run.Expected != nil && run.Expected.Useless()):
		return nil
	case run.Expected != nil && run.Expected.blind():
		by, err := rehearsed.quieter(ctx)
		if err != nil {
			return err
		}
		return run.refuse(by, fmt.Sprintf("the expected accuracy on public examples is %s, and %.3f before any client", run.Expected.short(), run.Expected.Before))
	case run.Expected == nil && o.SignalToNoise != nil && *o.SignalToNoise == 0:
		return fmt.Errorf("%w: no mean stands out of the public gradients. No number of clients, no ε and no other trust changes that. %s", ErrNoise, howToForce)
	case run.Expected == nil && o.SignalToNoise != nil && *o.SignalToNoise < 1:
		return run.refuse(refusalMargin/max(*o.SignalToNoise, 1e-6), fmt.Sprintf("the signal of the whole run is %.2g of its noise", *o.SignalToNoise))
	}
	return nil
}

// leastCoordinates is of which models a refusal speaks.
const leastCoordinates = 10

// mostSites is how many clients may be sites, as hospitals are, which hold the records of many people.
const mostSites = 200

// howToForce ends every refusal.
const howToForce = "To plan it all the same, force it (--force; in Python force=True)"

// refusalMargin is how much less noise a refused run is told to have than the least it takes.
const refusalMargin = 1.1

// refuse says what would make a run's noise smaller by a factor.
func (run *Run) refuse(by float64, because string) error {
	units := float64(cmp.Or(run.Records, run.Clients)) * by // noise of sums, and behind a shuffler nearly, falls with their number
	if run.Trust == Nobody {
		units *= by
	}
	budget := cmp.Or(run.Budget, run.Template.Epsilon)
	var ways []string
	if units <= fl.MaxReports {
		ways = append(ways, fmt.Sprintf("about %s %ss", roundUp(units), run.Unit))
	}
	if budget*by <= fl.MaxEpsilon {
		ways = append(ways, fmt.Sprintf("ε = %s", roundUp(budget*by)))
	}
	if d := float64(run.Dim) / (by * by); d >= leastCoordinates {
		ways = append(ways, fmt.Sprintf("a model with %d coordinates", int(d)))
	}
	if next := trustAfter(run.Trust); next != "" {
		ways = append(ways, fmt.Sprintf("perhaps --trust %s", next))
	}
	if run.Records == 0 && run.Clients <= mostSites {
		ways = append(ways, fmt.Sprintf("the number of records and the trust %s, if each client is a site that holds many people's records", OwnSite))
	}
	if len(ways) == 0 {
		return fmt.Errorf("%w: %s. No number of clients and no ε that is allowed is enough. %s", ErrNoise, because, howToForce)
	}
	return fmt.Errorf("%w: %s. What would not be refused, and may still learn little: %s. %s", ErrNoise, because, strings.Join(ways, ", or "), howToForce)
}

// trustAfter is the trust whose noise is the next smaller one, "" for the last.
func trustAfter(t Trust) Trust {
	switch t {
	case Nobody:
		return Shuffler
	case Shuffler, OwnSite:
		return TwoServers
	}
	return ""
}

// roundUp writes a number with two digits, rounded up.
func roundUp(v float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return fmt.Sprintf("%.10g", math.Ceil(v/unit)*unit)
}

// noise returns the standard error of a coordinate of the mean over all rounds, the norm of a clipped
// gradient, and what the clip leaves of the sample. It is 0 where it is not known beforehand.
func (run *Run) noise(q Request) (noise, length float64, left *kept) {
	if s := run.Schedule; s != nil {
		best := s.Considered[0]
		c := designs()[slices.IndexFunc(designs(), func(c design) bool { return c.Name() == best.Mechanism })]
		return best.NoiseOfRun, best.shape.length(c), best.shape.kept
	}
	if !isGaussian(run.Mechanism) {
		return 0, 0, nil
	}
	clip := run.Template.Scale
	if q.Public != nil {
		left = q.Public.kept(wholeClip(clip))
		clip = left.length
	}
	return run.standardError(run.Opened) / math.Sqrt(float64(run.Rounds)), clip, left
}

// standardError is the standard error of a coordinate of one round's mean of a sum, 0 where the mechanism does not say it.
func (run *Run) standardError(opened fl.Mechanism) float64 {
	m, ok := opened.(interface {
		StandardError(vectors, reports int) float64
	})
	if !ok {
		return 0
	}
	return m.StandardError(run.vectors(), run.Cohort)
}

// vectors is how many gradients are in the mean of a round.
func (run *Run) vectors() int { return cmp.Or(run.Records, run.Cohort) }

// sumSteps plans the clip and the steps of a run of sums, whose noise is little where there are many clients or records.
// The noise is in proportion to the clip.
func (run *Run) sumSteps(q Request, r *fl.Round) error {
	unit := *r
	unit.Scale, unit.MinReports, unit.TargetReports = 1, run.Cohort, run.Cohort
	_, opened, err := fl.Complete(unit)
	if err != nil {
		return err
	}
	noise := run.standardError(opened)
	shift := 0.
	if q.Liars > 0 {
		if shift, err = shiftOf(q.Liars, unit); err != nil {
			return err
		}
	}
	if q.Clip == 0 && q.Public != nil {
		r.Scale = q.L2 * q.wholeShare(noise/math.Sqrt(float64(run.Rounds)), shift)
	}
	if q.Smooth != nil {
		slope := 1.
		if q.Public != nil {
			slope = orWhole(q.Public.slope(*q.Public.kept(wholeClip(r.Scale))))
		}
		run.Steps, run.excess = q.Smooth.steps(noise*r.Scale*math.Sqrt(float64(run.Dim)/float64(run.Rounds)), slope, run.Rounds)
		return nil
	}
	limit := stepsFor(q.Centred)
	if q.ZeroShot > 0 {
		limit = limit.warm(noise / math.Sqrt(float64(run.Rounds)))
	}
	run.Steps = limit.clipped(r.Scale/q.L2).steps(noise*r.Scale, q.L2, run.Rounds)
	return nil
}

// wholeShare is the best clip of the L2 norm by the public sample, over that norm, where noise is in proportion to the clip: unit is the
// standard error of a coordinate of the mean over all rounds with a clip of 1, and shift is how far liars move it then.
func (q Request) wholeShare(unit, shift float64) float64 {
	if q.ZeroShot > 0 {
		return warmClip
	}
	if q.Smooth != nil && q.Smooth.Chances {
		losses := make([]float64, len(convergingClips))
		for i, f := range convergingClips {
			losses[i] = q.wholeLoss(f, unit, shift)
		}
		return convergingClips[longest(losses)]
	}
	share, least := 1., math.Inf(1)
	for _, f := range clips {
		if loss := q.wholeLoss(f, unit, shift); loss*nearly < least {
			share, least = f, loss
		}
	}
	return share
}

// wholeLoss is Sample.loss of a clip of the L2 norm.
func (q Request) wholeLoss(clip, unit, shift float64) float64 {
	square := (unit*unit*float64(q.Dim) + shift*shift) * clip * clip * q.L2 * q.L2
	return q.Public.loss(*q.Public.kept(wholeClip(clip * q.L2)), square)
}

// words are the outlook in sentences; none for nil.
func (o *Outlook) words() (out []string) {
	if o == nil {
		return nil
	}
	if o.SignalToNoise != nil {
		out = append(out, fmt.Sprintf("signal to noise of the run: %.2g, the norm of the clipped mean gradient at a model of zeros over the L2 norm of the error of all rounds, %.3g.", *o.SignalToNoise, o.NoiseL2))
	}
	if o.ZeroShot > 0 {
		out = append(out, fmt.Sprintf("warm start: %.2g times the public model. Its accuracy is %.3f.", o.Factor, o.ZeroShot))
		if o.Accuracy > 0 {
			out[len(out)-1] += fmt.Sprintf(" With this noise a run on public pictures that the model had not seen ends at about %.3f.", o.Accuracy)
		}
	}
	return out
}

// First returns the model that the run starts from: a public model, times the Factor of the Outlook. It is the
// public model itself where nothing is known of a public model's accuracy.
func (run *Run) First(public []float64) []float64 {
	out := slices.Clone(public)
	if run.Outlook == nil || run.Outlook.Factor == 0 {
		return out
	}
	for i := range out {
		out[i] *= run.Outlook.Factor
	}
	return out
}
