package plan

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/hdsum/shares"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

// Request is what a training run is asked to be. What is 0 is planned.
type Request struct {
	// Mechanism is "auto", a local mechanism that can be planned, "sumdp" for the shuffle
	// model, or "none" for no privacy.
	Mechanism string
	Dim       int // of a gradient; required
	Clients   int // required; they take part in turn
	// Cohort is the number of clients of a round. 0: for "none" such that each takes part
	// once, for "sumdp" 6000.
	Cohort int
	// Rounds is the number of rounds, at most. 0: 30, for "sumdp" 10.
	Rounds int
	// Epsilon is the ε of one report: local, for "sumdp" and "sumdp-shares" central. 0: the largest that
	// Budget allows, and 1 for these two without a Budget.
	Epsilon float64
	// MaxEpsilon limits the planned ε of one report. 0: only Budget limits it. It is 0 where Epsilon
	// is given, and for "sumdp" and "none".
	MaxEpsilon float64
	// Budget is the central ε of the whole run at Delta, after which it ends. 0: none, or 1
	// where there is no Epsilon either.
	Budget float64
	Delta  float64 // required
	// Sparsity is s of a sparse mechanism.
	Sparsity int
	// Clip is the norm to which gradients are clipped: L1, for "sumdp" L2.
	Clip float64
	// LearningRate is the server's step size. MaxLearningRate caps the planned value, which is for
	// softmax regression; 0: no limit.
	LearningRate, MaxLearningRate float64
	// L1 and L2 are a guess of the norms of a client's gradient at the first model, from
	// public data; required.
	L1, L2 float64
	// Centred is as in Training.
	Centred bool
	// Seed is not 0 where all randomness of the run comes from a seed, for experiments. Such
	// a run is planned like any other and promises nothing.
	Seed uint64
	// Progress is as in Training.
	Progress Progress
}

// Run is a training run in public numbers, decided before any client takes part.
type Run struct {
	Mechanism string  `json:"mechanism"` // what "auto" stands for
	Dim       int     `json:"dim"`
	Clients   int     `json:"clients"`
	Cohort    int     `json:"cohort"`
	Rounds    int     `json:"rounds"`   // at most: Affordable of them are within the budget
	Sparsity  int     `json:"sparsity"` // 0 where gradients are not sparse
	Budget    float64 `json:"budget"`   // 0: none
	Seed      uint64  `json:"seed"`     // 0: fresh randomness; with any other the run promises nothing
	// MessagesPerReport is expected, in the sense of the shuffle model; 1 unless a report is a
	// multiset of messages.
	MessagesPerReport float64 `json:"messages_per_report"`
	Steps

	// Template describes all rounds, but for the ID and the public seed; see Round.
	Template fl.Round `json:"-"`
	// Opened is the mechanism of the rounds.
	Opened fl.Mechanism `json:"-"`
	// Spending is what the rounds cost a client, and Affordable how many of them the budget
	// allows.
	Spending   *Spending `json:"-"`
	Affordable int       `json:"-"`
	// Schedule has what was compared; nil for "sumdp" and "none".
	Schedule *Schedule `json:"-"`
	// Expected is the accuracy that was measured for the task of examples/mnist on generated
	// digits; nil where nothing was measured.
	Expected *Expected `json:"-"`
}

// Beyond these nothing is trained, and products overflow.
const (
	leastNorm, largestNorm = 1e-6, 1e6 // of a gradient
	largestRate            = 1e6       // of learning
	maxRounds              = 1_000_000
)

// IsSum says whether a mechanism adds up whole gradients with noise that depends on the cohort alone,
// and clips their L2 norm: "sumdp" or "sumdp-shares".
func IsSum(mechanism string) bool { return mechanism == hdsum.Name || mechanism == shares.Name }

func (q Request) validate() error {
	none, sum := q.Mechanism == dense.Name, IsSum(q.Mechanism)
	switch {
	case q.Clients < 2 || q.Clients > fl.MaxReports:
		return fl.Invalid("clients", q.Clients, "must be in [2, %d]", fl.MaxReports)
	case q.Cohort != 0 && (q.Cohort < 2 || q.Cohort > q.Clients):
		return fl.Invalid("cohort", q.Cohort, "must be in [2, clients = %d], or 0", q.Clients)
	case q.Rounds < 0 || q.Rounds > maxRounds:
		return fl.Invalid("rounds", q.Rounds, "must be in [0, %d]", maxRounds)
	case none && q.Epsilon != 0:
		return fl.Invalid("epsilon", q.Epsilon, "must be 0: %s has no privacy", q.Mechanism)
	case !(q.Epsilon >= 0 && q.Epsilon <= fl.MaxEpsilon):
		return fl.Invalid("epsilon", q.Epsilon, "must be in [0, %d]", fl.MaxEpsilon)
	case q.MaxEpsilon != 0 && (none || sum):
		return fl.Invalid("max epsilon", q.MaxEpsilon, "must be 0: the ε of %s is not planned", q.Mechanism)
	case q.MaxEpsilon != 0 && q.Epsilon != 0:
		return fl.Invalid("max epsilon", q.MaxEpsilon, "must be 0 where epsilon is given")
	case !(q.MaxEpsilon >= 0 && q.MaxEpsilon <= fl.MaxEpsilon):
		return fl.Invalid("max epsilon", q.MaxEpsilon, "must be in [0, %d]", fl.MaxEpsilon)
	case none && q.Budget != 0:
		return fl.Invalid("budget", q.Budget, "must be 0: %s has no privacy to spend", q.Mechanism)
	case !(q.Budget >= 0 && q.Budget <= fl.MaxEpsilon):
		return fl.Invalid("budget", q.Budget, "must be in [0, %d]", fl.MaxEpsilon)
	case !(q.Delta > 0 && q.Delta < 1):
		return fl.Invalid("delta", q.Delta, "must be in (0, 1)")
	case q.Sparsity < 0:
		return fl.Invalid("sparsity", q.Sparsity, "must be at least 0")
	case q.Sparsity > 0 && (none || sum):
		return fl.Invalid("sparsity", q.Sparsity, "must be 0: gradients of %s are not sparse", q.Mechanism)
	case none && q.Clip != 0:
		return fl.Invalid("clip", q.Clip, "must be 0: %s clips nothing", q.Mechanism)
	case q.Clip != 0 && !(q.Clip >= leastNorm && q.Clip <= largestNorm):
		return fl.Invalid("clip", q.Clip, "must be in [%g, %g], or 0", leastNorm, largestNorm)
	case !(q.MaxLearningRate >= 0 && q.MaxLearningRate <= largestRate):
		return fl.Invalid("max learning rate", q.MaxLearningRate, "must be in [0, %g]", largestRate)
	case !(q.LearningRate >= 0 && q.LearningRate <= largestRate):
		return fl.Invalid("learning rate", q.LearningRate, "must be in [0, %g]", largestRate)
	}
	return nil
}

// Run decides what the request leaves open. What it says stays.
//
// With an Epsilon the run is planned for it, and the budget, if there is one, ends the run.
// Without one the run is planned for the budget, as by Training.Schedule, within MaxEpsilon. The number of rounds of
// "sumdp" and "sumdp-shares" is not planned: their noise depends on the cohort and ε alone, so few large cohorts with
// each client in one of them are best. Their ε is the largest with which all rounds stay within the budget. When the
// budget does not allow a single round, that is an error.
//
// Cost: as much as Training.Schedule and NewSpending.
func (q Request) Run(ctx context.Context) (*Run, error) {
	if err := q.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	run := &Run{Clients: q.Clients, Cohort: q.Cohort, Rounds: cmp.Or(q.Rounds, 30), Dim: q.Dim, Budget: q.Budget, Seed: q.Seed, MessagesPerReport: 1}
	r := fl.Round{ID: "plan", Mechanism: q.Mechanism, Dim: q.Dim, Scale: 1, Epsilon: q.Epsilon, Relation: fl.ReplaceOne, PublicSeed: [32]byte{1}}
	switch q.Mechanism {
	case dense.Name:
		run.Cohort = cmp.Or(q.Cohort, max(2, q.Clients/run.Rounds)) // with all clients in every round uploads would be gigabytes
		run.Steps = stepsFor(q.Centred).steps(0, q.L2, run.Rounds)
		r.Epsilon = math.Inf(1)
	case hdsum.Name, shares.Name:
		run.Cohort, run.Rounds = cmp.Or(q.Cohort, min(6000, q.Clients)), cmp.Or(q.Rounds, 10)
		run.Steps = Steps{LearningRate: sumRate / (q.L2 * q.L2), Momentum: stepMomentum, Averaging: stepAveraging}
		r.Scale, r.Delta = cmp.Or(q.Clip, sumClip*q.L2), q.Delta
		if k := run.participations(); k > 1 {
			r.Delta = q.Delta / float64(2*k) // half for the rounds, half for their composition
		}
		if r.Epsilon == 0 {
			var err error
			if r.Epsilon, err = run.sumWithin(ctx, q.Budget, q.Delta, r.Delta); err != nil {
				return nil, fmt.Errorf("plan: %w", err)
			}
		}
		r.Params = fl.Params{hdsum.ParamRange: fl.Real(0.8), hdsum.ParamLevels: fl.Int(1)}
	default:
		if err := run.schedule(ctx, q); err != nil {
			return nil, err
		}
		s := run.Schedule
		r.Mechanism, r.Epsilon, r.Scale = s.Plan.Mechanism, s.EpsilonLocal, s.Scale
		r.Params = s.Params
	}
	if q.MaxLearningRate > 0 {
		run.LearningRate = min(run.LearningRate, q.MaxLearningRate)
	}
	run.LearningRate = cmp.Or(q.LearningRate, run.LearningRate)
	r.MinReports, r.TargetReports = run.Cohort, run.Cohort
	var err error
	if run.Template, run.Opened, err = fl.Complete(r); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	run.Mechanism = run.Template.Mechanism
	if c, ok := run.Opened.(fl.Coster); ok {
		run.MessagesPerReport = c.Cost().Messages
	}
	if err := run.account(ctx, q.Delta); err != nil {
		return run, err
	}
	if e, ok, err := run.expected(q); err != nil {
		return run, err
	} else if ok {
		run.Expected = &e
	}
	return run, nil
}

// The clip and the learning rate of sums were found for gradients of norm √2: 1.4 and 20.
const (
	sumClip = 1.4 / math.Sqrt2 // over the norm of a gradient
	sumRate = 20 * 2           // for gradients of norm 1
)

// sumWithin returns the ε of a round of a sum, 1 without a budget. With one it is the largest, up to a share of 1e-4, at
// which the rounds of a client have at most this central ε together. each is the δ of a round.
func (run *Run) sumWithin(ctx context.Context, budget, delta, each float64) (float64, error) {
	k := run.participations()
	if budget == 0 {
		return 1, nil
	}
	if k == 1 {
		return budget, nil
	}
	low, high := budget/float64(2*k), budget // the k-fold sum of low is half of the budget
	for high-low > 1e-4*low {
		mid := (low + high) / 2
		all, err := compose.Compose(ctx, []compose.Event{{Kind: compose.KindApproximate, Epsilon: mid, Delta: each, Count: k}}, compose.Options{})
		if err != nil {
			return 0, err
		}
		bounds, err := all.Epsilon(ctx, delta)
		if err != nil {
			return 0, err
		}
		if bounds.Upper <= budget {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// schedule plans a local mechanism.
func (run *Run) schedule(ctx context.Context, q Request) error {
	t := Training{
		Dim: q.Dim, Clients: q.Clients, Rounds: run.Rounds, Epsilon: q.Budget, Delta: q.Delta, EpsilonLocal: cmp.Or(q.Epsilon, q.MaxEpsilon),
		Sparsity: q.Sparsity, L1: q.L1, L2: q.L2, Centred: q.Centred, Progress: q.Progress,
	}
	if q.Mechanism != auto.Name {
		t.Mechanism = q.Mechanism
	}
	switch {
	case q.Epsilon > 0:
		t.Epsilon = 0 // the budget ends the run
	case q.Budget == 0:
		run.Budget, t.Epsilon = 1, 1
	}
	if q.Clip > 0 {
		t.L1, t.L2 = q.Clip, q.Clip/q.L1*q.L2
	}
	if q.Cohort > 0 { // the plan is for those clients that take part
		t.Participations = run.participations()
		t.Clients = (run.Rounds*q.Cohort + t.Participations - 1) / t.Participations
	}
	s, err := t.Schedule(ctx)
	if err != nil {
		return err
	}
	run.Schedule, run.Steps, run.Sparsity, run.Cohort = s, s.Steps, s.Sparsity, cmp.Or(q.Cohort, s.Cohort)
	return nil
}

// account finds out where the budget ends the run.
func (run *Run) account(ctx context.Context, delta float64) (err error) {
	if run.Spending, err = NewSpending(run.Opened, run.Clients, run.Cohort, delta); err != nil {
		return err
	}
	run.Affordable = run.Rounds
	if run.Budget == 0 {
		return nil
	}
	if run.Affordable, err = run.Spending.Within(ctx, run.Budget, run.Rounds); err != nil || run.Affordable > 0 {
		return err
	}
	one, err := run.Spending.Promise(ctx, 1)
	if err != nil {
		return err
	}
	return fmt.Errorf("plan: %w", fl.Invalid("budget", run.Budget, "must be at least the central ε of one round, %s", above(*one.Central)))
}

// Promise returns what the first rounds promise each client: nothing where the run has a seed.
func (run *Run) Promise(ctx context.Context, rounds int) (Promise, error) {
	p, err := run.Spending.Promise(ctx, rounds)
	if err == nil && run.Seed != 0 {
		p = p.repeated(run.Seed)
	}
	return p, err
}

// participations is how often a client takes part, at most.
func (run *Run) participations() int { return (run.Rounds*run.Cohort + run.Clients - 1) / run.Clients }

// Round describes one round of the run. Its public seed must be fresh: see
// fl.NewPublicSeed.
func (run *Run) Round(id string, publicSeed [32]byte) fl.Round {
	r := run.Template
	r.ID, r.PublicSeed = id, publicSeed
	return r
}

// Policy is what a client demands that takes part as planned, and in nothing weaker. It names the
// run's mechanism. In the shuffle model it trusts the shuffler.
func (run *Run) Policy() fl.Policy {
	g := run.Opened.Guarantee()
	return fl.Policy{MaxEpsilon: g.Epsilon, MaxDelta: g.Delta, TrustShuffler: g.Trust == fl.Shuffle, MinReports: run.Cohort,
		Mechanisms: []string{run.Mechanism}, Features: run.Template.Features}
}
