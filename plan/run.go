package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privunit"
)

// Run is a training run in public numbers, decided before any client takes part.
type Run struct {
	Mechanism string  `json:"mechanism"` // what "auto" stands for
	Trust     Trust   `json:"trust"`
	Dim       int     `json:"dim"`
	Clients   int     `json:"clients"`
	Records   int     `json:"records"` // of all clients together, whose sums they send; 0: none
	Unit      Unit    `json:"-"`       // what ε protects
	Cohort    int     `json:"cohort"`
	Rounds    int     `json:"rounds"`   // at most: Affordable of them are within the budget
	Sparsity  int     `json:"sparsity"` // 0 where gradients are not sparse
	Budget    float64 `json:"budget"`   // 0: none
	Liars     float64 `json:"liars"`    // share of clients that the plan counts on
	Seed      uint64  `json:"seed"`     // 0: fresh randomness; with any other the run promises nothing
	// MessagesPerReport is expected, in the sense of the shuffle model; 1 unless a report is a
	// multiset of messages.
	MessagesPerReport float64 `json:"messages_per_report"`
	Steps

	// Outlook is what noise leaves of the run; nil where neither a public sample nor a public model was given.
	Outlook *Outlook `json:"outlook"`
	// Centring is what the first round is about; nil where it is about gradients, as all others are.
	Centring *Centring `json:"centring"`

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
	// Expected is what the run is expected to reach on the request's Examples; nil where there are none, or the noise is not known
	// beforehand.
	Expected *Expected `json:"expected_accuracy"`
	doubled  bool      // the number of rounds was left open, and follows from the noise
	smooth   *Smooth   // what the steps follow from, where it is known
	excess   float64   // the most that the loss then is above the least
}

// Run decides what the request leaves open. What it says stays.
//
// With an Epsilon the run is planned for it, and the budget, if there is one, ends the run.
// Without one the run is planned for the budget, as by Training.Schedule, within MaxEpsilon. The number of rounds of
// "sumdp", "gaussian-shares" and "gaussian-site" is not planned. Cohorts are as large as they may be: with Gaussian noise all clients in each
// of R rounds have √R times less noise in the whole run than a share of them in each. Their ε is the largest with which all rounds stay within the budget. When the
// budget does not allow a single round, that is an error.
//
// "auto" takes the mechanism with the smallest exact error. Where that is coco and there are Examples, privunit is rehearsed
// beside it: noise hurts more where clients hold entries than its size says. coco is taken where it leaves at most 5 % more
// errors, and not where its run is refused for its noise and privunit's is not. The run that is refused comes with the error.
//
// Cost: as much as Training.Schedule and NewSpending, and with Examples some seconds for rehearsals.
func (q Request) Run(ctx context.Context) (*Run, error) {
	if q.opensRounds() {
		return q.openRounds(ctx)
	}
	run, refused := q.run(ctx)
	if refused != nil && !errors.Is(refused, ErrNoise) {
		return run, refused
	}
	if q.Mechanism != mechanisms.Auto || run.Mechanism != coco.Name || run.Expected == nil {
		return run, refused
	}
	considered := run.Schedule.Considered
	q.Mechanism = privunit.Name
	if !slices.ContainsFunc(considered, func(a Alternative) bool { return a.Mechanism == q.Mechanism }) {
		return run, refused
	}
	other, err := q.run(ctx)
	if errors.Is(err, ErrNoise) {
		return run, refused
	}
	if err != nil {
		return nil, err
	}
	if refused == nil && byChance*(1-other.Expected.Accuracy) >= 1-run.Expected.Accuracy {
		return run, nil
	}
	other.Schedule.putBefore(considered)
	return other, nil
}

// byChance is by how much more errors one run may leave in rehearsals than another that is no better.
const byChance = 1.05

// putBefore puts what the schedule has chosen before the alternatives that were considered, and drops it among them.
func (s *Schedule) putBefore(considered []Alternative) {
	best := s.Considered[0]
	rest := slices.DeleteFunc(slices.Clone(considered), func(a Alternative) bool {
		return a.Mechanism == best.Mechanism && a.Participations == best.Participations
	})
	s.Considered = slices.Insert(rest, 0, best)
}

// run is Run for the mechanism with the smallest error.
func (q Request) run(ctx context.Context) (_ *Run, err error) {
	q.Trust = cmp.Or(q.Trust, q.defaultTrust())
	q.withoutHonest()
	if err := q.validate(); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	run := &Run{Trust: q.Trust, Unit: Client, Liars: q.Liars, smooth: q.Smooth}
	q.Mechanism = q.resolved()
	if IsSum(q.Mechanism) && q.Epsilon == 0 {
		q.Budget = cmp.Or(q.Budget, q.Trust.DefaultBudget())
	}
	if q.Records > 0 {
		run.Unit, q.PerClient = Record, 1
		if isGaussian(q.Mechanism) {
			run.Records = q.Records
		} else {
			q.Clients = q.Records
		}
	}
	if q.Examples != nil && q.Public == nil {
		if q.Public, err = q.Examples.Sample(); err != nil {
			return nil, err
		}
	}
	if q.Public != nil {
		q.L1, q.L2 = q.Public.Norms()
	}
	run.Clients, run.Cohort, run.Rounds = q.Clients, q.Cohort, cmp.Or(q.Rounds, q.rounds())
	run.Dim, run.Budget, run.Seed, run.MessagesPerReport = q.Dim, q.Budget, q.Seed, 1
	r := fl.Round{ID: "plan", Mechanism: q.Mechanism, Dim: q.Dim, Scale: 1, Epsilon: q.Epsilon, Relation: fl.ReplaceOne, PublicSeed: [32]byte{1}}
	switch q.Mechanism {
	case baseline.None:
		run.Cohort = cmp.Or(q.Cohort, min(q.Clients, max(bareCohort, q.Clients/run.Rounds))) // with all of many clients in every round uploads would be gigabytes
		if q.Smooth != nil {
			run.Cohort = cmp.Or(q.Cohort, q.Clients) // such models are small
		}
		run.Steps = stepsFor(q.Centred).steps(0, q.L2, run.Rounds)
		r.Epsilon = math.Inf(1)
	case hdsum.Name, hdsum.SharesName, hdsum.SiteName:
		most := q.Clients
		if q.Mechanism == hdsum.Name {
			most = min(6000, most) // its clients send many messages each
		}
		run.Cohort = cmp.Or(q.Cohort, most)
		if run.Records > 0 {
			run.Cohort = q.Clients
			r.Params = fl.Params{fl.ParamRecords: fl.Int(run.Records)}
		}
		if q.Proof != "" {
			r.Params = fl.Params{hdsum.ParamProof: fl.Text(q.Proof)}
		}
		r.Scale, r.Delta = cmp.Or(q.Clip, sumClip*q.L2), q.Delta
		gaussian := isGaussian(q.Mechanism)
		if k := run.participations(); k > 1 && !gaussian {
			r.Delta = q.Delta / float64(2*k) // half for the rounds, half for their composition
		}
		if !gaussian {
			r.Params = fl.Params{hdsum.ParamRange: fl.Real(0.8), hdsum.ParamLevels: fl.Int(1)}
		}
		if r.Epsilon == 0 {
			if r.Epsilon, err = run.sumWithin(ctx, q.Budget, q.Delta, r); err != nil {
				return nil, fmt.Errorf("plan: %w", err)
			}
		}
		if err := run.addNoise(ctx, q, &r); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
		if err := run.sumSteps(q, &r); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
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
	run.smoothSteps(q)
	run.LearningRate = cmp.Or(q.LearningRate, run.LearningRate)
	r.MinReports, r.TargetReports = run.Cohort, run.Cohort
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
	run.foresee(q)
	if err := run.centre(q); err != nil {
		return nil, err
	}
	rehearsed, err := run.rehearse(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := run.judge(ctx, q, rehearsed); err != nil {
		return run, fmt.Errorf("plan: %w", err)
	}
	return run, nil
}

// sumClip is the clip of sums over the norm of a gradient, where no public gradients tell a better one. It was found for gradients of norm √2.
const sumClip = 1.4 / math.Sqrt2

// sumWithin returns the ε of a round of a sum: the largest, up to a share of 1e-4, at which the rounds of a client have at
// most this central ε together.
func (run *Run) sumWithin(ctx context.Context, budget, delta float64, r fl.Round) (float64, error) {
	k := run.participations()
	if k == 1 {
		return budget, nil
	}
	low, high := budget/float64(2*k), budget // the k-fold sum of low is half of the budget
	for high-low > 1e-4*low {
		mid := (low + high) / 2
		r.Epsilon, r.MinReports, r.TargetReports = mid, run.Cohort, run.Cohort
		_, m, err := fl.Complete(r)
		if err != nil {
			return 0, err
		}
		spending, err := NewSpending(m, run.Clients, run.Cohort, delta)
		if err != nil {
			return 0, err
		}
		if all, err := spending.central(ctx, k); err != nil {
			return 0, err
		} else if all <= budget {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// honestShare is the share of honest clients where none is stated.
const honestShare = 0.9

// withoutHonest fills in the budget that holds without honest clients, where there is one that holds with them.
func (q *Request) withoutHonest() {
	if q.HonestBudget > 0 && q.Epsilon == 0 {
		q.Budget = cmp.Or(q.Budget, 2*q.HonestBudget)
	}
}

// addNoise has clients of two servers add noise, so that all rounds of a client have the ε OwnBudget by the client's noise alone, or the ε HonestBudget
// by the noises of a server and of the honest clients.
func (run *Run) addNoise(ctx context.Context, q Request, r *fl.Round) error {
	budget := cmp.Or(q.OwnBudget, q.HonestBudget)
	if budget == 0 {
		return nil
	}
	epsilon, err := run.sumWithin(ctx, budget, q.Delta, *r)
	if err != nil {
		return err
	}
	params := maps.Clone(r.Params)
	if params == nil {
		params = fl.Params{}
	}
	if q.OwnBudget > 0 {
		params[hdsum.ParamOwnEpsilon] = fl.Real(epsilon)
	} else {
		params[hdsum.ParamHonestEpsilon] = fl.Real(epsilon)
		params[hdsum.ParamHonestReports] = fl.Int(max(1, int(cmp.Or(q.Honest, honestShare)*float64(run.Cohort))))
	}
	r.Params = params
	return nil
}

// schedule plans a local mechanism.
func (run *Run) schedule(ctx context.Context, q Request) error {
	t := Training{
		Dim: q.Dim, Clients: q.Clients, Rounds: run.Rounds, Epsilon: q.Budget, Delta: q.Delta, EpsilonLocal: cmp.Or(q.Epsilon, q.MaxEpsilon),
		Sparsity: q.Sparsity, Clip: q.Clip, Liars: q.Liars, L1: q.L1, L2: q.L2, Public: q.Public, Warm: q.ZeroShot > 0, Centred: q.Centred, Converges: q.Smooth != nil && q.Smooth.Chances, Progress: q.Progress,
	}
	if q.Mechanism != mechanisms.Auto {
		t.Mechanism = q.Mechanism
	}
	switch {
	case q.Epsilon > 0:
		t.Epsilon = 0 // the budget ends the run
	case q.Budget == 0:
		run.Budget = run.Trust.DefaultBudget()
		t.Epsilon = run.Budget
	}
	if q.Cohort > 0 { // the plan is for those clients that take part
		t.Participations = run.participations()
		t.Clients = (run.Rounds*q.Cohort + t.Participations - 1) / t.Participations
	}
	if run.Trust == Nobody {
		t.Participations = cmp.Or(t.Participations, 1)
		if q.Epsilon == 0 { // all reports of a client share the budget: its ε is their sum
			share, err := shareOf(t.Epsilon, t.Participations)
			if err != nil {
				return fmt.Errorf("plan: %w", err)
			}
			t.EpsilonLocal = min(share, cmp.Or(q.MaxEpsilon, share))
		}
		t.Epsilon = 0
	}
	s, err := t.Schedule(ctx)
	if err != nil {
		return err
	}
	run.Schedule, run.Steps, run.Cohort = s, s.Steps, cmp.Or(q.Cohort, s.Cohort)
	if s.Mechanism != privunit.Name {
		run.Sparsity = s.Sparsity
	}
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
	if run.Affordable, err = run.Spending.Within(ctx, run.Trust, run.Budget, run.Rounds); err != nil || run.Affordable > 0 {
		return err
	}
	one, err := run.Spending.Promise(ctx, 1)
	if err != nil {
		return err
	}
	least := one.Central
	if run.Trust.Local() {
		least = one.LocalTotal
	}
	return fmt.Errorf("plan: %w", fl.Invalid("budget", run.Budget, "must be at least the ε of one round, %s", above(*least)))
}

// Promise returns what the first rounds promise each client: nothing where the run has a seed.
func (run *Run) Promise(ctx context.Context, rounds int) (Promise, error) {
	p, err := run.Spending.Promise(ctx, rounds)
	p.Unit = run.Unit
	if run.Trust == Nobody {
		p.Central = nil // it would trust a shuffler
	}
	if err == nil && run.Seed != 0 {
		p = Promise{Unit: p.Unit, Delta: p.Delta, Participations: p.Participations, Seed: run.Seed} // nothing else
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
