package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/sparse"
)

// Expected is what a run is expected to reach: the planned run was rehearsed on public examples, with noise of
// the planned size. It says nothing about other examples.
type Expected struct {
	// Accuracy is the rehearsals' mean, on public examples that no simulated client held. A single run is within Error
	// of it, 95 times in 100.
	Accuracy float64 `json:"accuracy"`
	Error    float64 `json:"error"`
	// Before is the accuracy of the first model, before any client takes part, and WithoutPrivacy the accuracy after as many rounds
	// without clip and noise.
	Before         float64 `json:"before"`
	WithoutPrivacy float64 `json:"without_privacy"`
	// On says which examples these are, see Examples.Named.
	On string `json:"on"`
}

// blind says that a run may well end where it begins.
func (e Expected) blind() bool { return e.Accuracy-e.Error <= e.Before }

// Useless says that the run is expected to end no better than it begins.
func (e Expected) Useless() bool { return e.Accuracy <= e.Before }

func (e Expected) String() string {
	advice := ""
	if e.Useless() {
		advice = ": do not train"
	}
	return fmt.Sprintf("%s (without privacy %.3f; before round 1 %.3f%s)", e.short(), e.WithoutPrivacy, e.Before, advice)
}

// short is the accuracy and its error.
func (e Expected) short() string {
	return fmt.Sprintf("%.3f ± %.3f", e.Accuracy, math.Ceil(1000*e.Error)/1000)
}

// rehearsals is how often a run is rehearsed.
const rehearsals = 5

// A rehearsed round looks at about gradientsOfRound examples: the error of that choice is far below the noise of a
// round that is larger. Where gradients have more than 2048 coordinates it looks at fewer, so that they have valuesOfRound values together, but not at fewer than
// leastOfRound: noise grows with the number of coordinates, and the error of the choice does not.
const (
	gradientsOfRound = 4096
	quickOfRound     = gradientsOfRound / 4 // see Request.Quick
	valuesOfRound    = 1 << 23
	leastOfRound     = 256
)

// lookedAt is about how many examples a rehearsed round looks at.
func lookedAt(dim int, quick bool) int {
	most := gradientsOfRound
	if quick {
		most = quickOfRound
	}
	return min(most, max(leastOfRound, valuesOfRound/dim))
}

// rehearsal is a run on public examples. Each client has examples of its own as long as there are enough.
type rehearsal struct {
	on                *Examples
	first             []float64
	perClient         int // examples of a client
	clients, cohort   int
	rounds            int
	clip              clipping
	noise             noise
	steps, plain      Steps // plain is without privacy
	centring          *Centring
	train, overlooked int // how many examples clients draw from, and how many more they would have
	quick             bool
	progress          Progress // may be nil
}

// noise is the randomness of one round's mean.
type noise struct {
	deviation float64 // standard error of a coordinate; 0: none
	// A sparse mechanism's coordinates differ: those that clients hold as entries are noisier, and it is random which they hold. These are the
	// variances of one report at a coordinate that is an entry and at any other, in units of scale², and the number of reports. They are 0
	// where all coordinates are alike.
	entry, other, scale, reports float64
}

// quieter returns noise whose standard error is divided by a factor.
func (n noise) quieter(by float64) noise {
	n.deviation /= by
	n.reports *= by * by
	return n
}

// at returns the standard error of a coordinate g whose means over the clients are |g| and g². A client's share |g|/scale is the probability
// that the coordinate is an entry.
func (n noise) at(length, square float64) float64 {
	if n.reports == 0 {
		return n.deviation
	}
	p := length / n.scale
	square /= n.scale * n.scale
	return n.scale * math.Sqrt((p*n.entry+(1-p)*n.other+max(0, p-square))/n.reports)
}

// expect rehearses a run as often as it takes, and once without privacy.
func (r rehearsal) expect(ctx context.Context) (*Expected, error) {
	have := r.clients * r.perClient
	r.train = min(len(r.on.x)-r.on.held, have)
	r.overlooked = have - r.train
	scores, corrections := make([]float64, rehearsals), make([]float64, rehearsals)
	e := &Expected{On: cmp.Or(r.on.name, "public examples"), Before: r.on.accuracy(r.on.byClass(r.first), r.on.test())}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	if r.progress != nil {
		r.progress.Grow(rehearsals + 1)
	}
	for i := range scores {
		group.Go(func() (err error) {
			scores[i], corrections[i], err = r.once(ctx, rand.New(rand.NewPCG(rehearsalSeed, uint64(i))))
			return err
		})
	}
	group.Go(func() (err error) {
		bare := r
		bare.clip, bare.noise, bare.steps = clipping{}, noise{}, r.plain // and the mean without noise
		e.WithoutPrivacy, _, err = bare.once(ctx, rand.New(rand.NewPCG(rehearsalSeed, rehearsals)))
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	mean, deviation := stat.MeanStdDev(scores, nil)
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: rehearsals - 1}.Quantile(0.975)
	run := quantile * deviation * math.Sqrt(1+1./rehearsals)
	// Agresti and Coull's interval for a share of examples: with two hits and two misses more, it is not empty at an accuracy of 1.
	most := float64(r.on.held) + 4
	share := (mean*float64(r.on.held) + 2) / most
	test := 1.96 * math.Sqrt(share*(1-share)/most)
	e.Accuracy, e.Error = mean, math.Hypot(run, test)+math.Abs(mean-share)+stat.Mean(corrections, nil)
	return e, nil
}

// rehearsalSeed makes predictions the same whenever the question is.
const rehearsalSeed = 0x68757368

// once returns the accuracy of a run. Where the clients have more examples than there are, the model meets examples again and
// knows them better than others: the accuracy with endless examples is between the accuracy on those that it meets and the
// accuracy on those that it never meets, and the correction goes half of the way in the share of examples that are missing.
func (r rehearsal) once(ctx context.Context, rng *rand.Rand) (accuracy, correction float64, err error) {
	if r.progress != nil {
		defer r.progress.Step()
	}
	dim := len(r.first)
	params, velocity := r.on.byClass(r.first), make([]float64, dim)
	average, weight := make([]float64, dim), 0.
	p := make([]float64, r.on.classes)
	grad, mean, shares, squares := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
	order := rng.Perm(len(r.on.x) - r.on.held)[:r.train]
	looked := lookedAt(dim, r.quick)
	some := min(r.cohort, max(16, looked/r.perClient))
	each := min(r.perClient, looked)
	if r.quick { // of few clients with many examples
		each = min(each, max(1, looked/some))
	}
	shrunk := r.clip.order == 1
	// The gradient of one example is a product of two short vectors. Where no coordinate is looked at alone, it need not be written out.
	short := each == 1 && r.clip.top == 0 && r.noise.reports == 0
	held := 0
	if r.centring != nil {
		r.on, held = r.centring.rehearsed(r.on, order[:min(len(order), some*each)], r.noise.deviation > 0, rng), 1
	}
	var norms []float64
	var sizes []sizes
	switch {
	case short:
		norms = r.on.norms(r.clip.order)
	case each == 1 && r.noise.reports > 0:
		sizes = r.on.sizes()
	}
	for round := held; round < r.rounds; round++ {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		clear(mean)
		clear(shares)
		clear(squares)
		for turn := range some {
			client := (round*r.cohort + turn) % r.clients
			clear(grad)
			for k := range each {
				at := client*r.perClient + k
				if at >= r.train { // another example stands in for one that is missing
					at = rng.IntN(r.train)
				}
				r.on.derivatives(p, params, order[at], shrunk)
				if short {
					if norms != nil {
						floats.Scale(r.clip.factor(floats.Norm(p, r.clip.order)*norms[order[at]]), p)
					}
					r.on.addGradient(mean, p, order[at])
					break
				}
				if sizes != nil {
					r.on.addClipped(mean, shares, squares, p, order[at], r.clip, sizes[order[at]])
					break
				}
				floats.Scale(1/float64(each), p)
				r.on.addGradient(grad, p, order[at])
			}
			if short || sizes != nil {
				continue
			}
			if shrunk && each > 1 { // the mean of shortest gradients need not be one
				r.on.shrink(grad)
			}
			r.clip.apply(grad)
			if r.noise.reports == 0 {
				floats.Add(mean, grad)
				continue
			}
			for j, v := range grad {
				mean[j] += v
				shares[j] += math.Abs(v)
				squares[j] += v * v
			}
		}
		for j := range params {
			g := mean[j] / float64(some)
			if r.noise.deviation > 0 {
				g += r.noise.at(shares[j]/float64(some), squares[j]/float64(some)) * rng.NormFloat64()
			}
			velocity[j] = r.steps.Momentum*velocity[j] - r.steps.LearningRate*g
			params[j] += velocity[j]
			average[j] = r.steps.Averaging*average[j] + (1-r.steps.Averaging)*params[j]
		}
		weight = r.steps.Averaging*weight + 1 - r.steps.Averaging
	}
	floats.Scale(1/weight, average)
	accuracy = r.on.accuracy(average, r.on.test())
	if r.overlooked > 0 {
		gap := r.on.accuracy(average, order[:min(len(order), r.on.held)]) - accuracy
		correction = max(0, gap) / 2 * float64(r.overlooked) / float64(r.overlooked+r.train)
	}
	return accuracy + correction, correction, nil
}

// rehearse fills in what the run is expected to reach on the request's public examples, where it has some, and returns the rehearsal.
func (run *Run) rehearse(ctx context.Context, q Request) (*rehearsal, error) {
	if q.Examples == nil {
		return nil, nil
	}
	noise, err := run.noiseOfRound()
	if err != nil || noise.deviation == 0 && run.Mechanism != baseline.None {
		return nil, err
	}
	r := &rehearsal{
		on: q.Examples, first: run.First(q.first()), perClient: max(1, q.PerClient), clients: cmp.Or(run.Records, run.Clients), cohort: run.vectors(), rounds: run.Affordable,
		clip: run.clipping(), noise: noise, steps: run.Steps, plain: q.plainSteps(run.Rounds), centring: run.Centring,
		quick: q.Quick, progress: q.Progress,
	}
	if run.Expected, err = r.expect(ctx); err != nil || run.Outlook == nil || run.Outlook.Factor == 0 || !run.Expected.Useless() {
		return r, err
	}
	// A weak model forgets in the first steps what it knows: the whole public model is tried.
	whole := *r
	whole.first = q.first()
	e, err := whole.expect(ctx)
	if err == nil && e.Accuracy > run.Expected.Accuracy {
		run.Outlook.Factor, run.Expected, r = 1, e, &whole
	}
	return r, err
}

// mostQuiet is the factor of noise at which quieter gives up.
const mostQuiet = 1 << 10

// quieter returns by how much less noise the run would learn something, a power of 2.
func (r *rehearsal) quieter(ctx context.Context) (float64, error) {
	for by := 2.; ; by *= 2 {
		less := *r
		less.noise = r.noise.quieter(by)
		e, err := less.expect(ctx)
		if err != nil || !e.blind() || by >= mostQuiet {
			return by, err
		}
	}
}

// first is the public model, or zeros.
func (q Request) first() []float64 {
	if q.First == nil {
		return make([]float64, q.Dim)
	}
	return q.First
}

// plainSteps are the steps of a run without privacy.
func (q Request) plainSteps(rounds int) Steps {
	return Training{Rounds: rounds, L2: q.L2, Centred: q.Centred}.Steps(0)
}

// noiseOfRound is the noise of a round's mean, the zero value where it is not known or there is none.
func (run *Run) noiseOfRound() (noise, error) {
	s := run.Schedule
	if s == nil {
		return noise{deviation: run.standardError(run.Opened)}, nil
	}
	out := noise{deviation: s.Noise}
	for _, c := range mechanisms.Schemes() {
		if c.Name() != run.Mechanism {
			continue
		}
		at, err := c.Calibration(sparse.Point{Dim: run.Dim, Sparsity: run.Sparsity, Slots: s.Slots, Epsilon: s.EpsilonLocal})
		if err != nil {
			return noise{}, fmt.Errorf("plan: %w", err)
		}
		out.scale, out.reports = s.Scale, float64(run.Cohort)
		out.entry, out.other = at.MeanVariance()
	}
	return out, nil
}

// NoiseAt is the standard error of a coordinate of one round's mean, where the values of the round's clients at this coordinate have the mean size and the mean
// square. A sparse report carries only some of its values, which counts. That only some of all clients report does not. It is 0 where there is no noise, or the
// mechanism does not say it.
func (run *Run) NoiseAt(size, square float64) (float64, error) {
	n, err := run.noiseOfRound()
	return n.at(size, square), err
}

// clipping is how the run's mechanism clips gradients.
func (run *Run) clipping() clipping {
	switch {
	case run.Mechanism == baseline.None:
		return clipping{}
	case run.Sparsity > 0:
		return ternaryClip(run.Sparsity, run.Template.Scale)
	}
	return wholeClip(run.Template.Scale)
}
