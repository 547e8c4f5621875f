package plan

import (
	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
)

// Request is what a training run is asked to be. What is 0 is planned.
type Request struct {
	// Mechanism is "auto", a local mechanism that can be planned, "sumdp" for the shuffle
	// model, or "none" for no privacy.
	Mechanism string
	// Trust is whom the clients trust: Nobody, OwnSite, Shuffler or TwoServers. "gaussian-shares" needs TwoServers, "gaussian-site"
	// OwnSite, and "sumdp" Shuffler. "auto" with TwoServers is "gaussian-shares", and with OwnSite "gaussian-site". "": as the mechanism
	// needs, and otherwise OwnSite with Records and Nobody without.
	Trust   Trust
	Dim     int // of a gradient; required
	Clients int // required; they take part in turn
	// Records is the number of records of all clients together, where clients are sites that hold many people's records each, as
	// hospitals do. Budget and Epsilon then protect one record, whose gradient is clipped. 0: they protect all data of a client. With
	// OwnSite and TwoServers a site sends one sum of its records in every round. With Nobody and Shuffler it sends a report of a record
	// whose turn it is, and the run's clients are the records.
	Records int
	// Proof is hdsum.ProofPrio3 where each client of a run with TwoServers proves that its gradient is short, so that one that lies
	// shifts a mean by a bounded length. "": it proves nothing.
	Proof string
	// OwnBudget is the ε of everything that a client sends in a run with TwoServers, at Delta, against everybody: both servers together
	// included. Each client adds noise for it, beside the servers' noise for Budget, which is smaller. 0: it adds none.
	OwnBudget float64
	// HonestBudget is the ε of everything that a client sends in a run with TwoServers, at Delta, against either server if the share Honest of the reports
	// of each round is of honest clients: each client adds a part of the noise. Budget is larger, and holds without them. 0: clients
	// add none. Where it is given, a Budget of 0 is twice as much, and an Honest of 0 is 0.9.
	HonestBudget, Honest float64
	// Liars is the share of clients that lie, in [0, 0.5), which the plan counts on: it chooses mechanism, clip and the way to take part for the least
	// error, of which about the worst that they do together is a part. 0: none. Mechanisms that do not bound what one client does are refused.
	Liars float64
	// Cohort is the number of clients of a round. 0: for "none" such that each takes part
	// once, for "sumdp" 6000, and for "gaussian-shares" all.
	Cohort int
	// Rounds is the number of rounds, at most. 0: 16 with the trust Nobody, or 60 with Examples and without a public model,
	// fewer where there are few clients, for "sumdp" and "gaussian-shares" 10 without Smooth, and 30 otherwise. With Shuffler and Examples, but without a public
	// model, it is doubled up to 120 as long as the noise of the run falls by a tenth. See Smooth.
	Rounds int
	// Epsilon is the ε of one report: local, for "sumdp" and "gaussian-shares" central. 0: the largest that
	// Budget allows, and 1 for these two without a Budget.
	Epsilon float64
	// MaxEpsilon limits the planned ε of one report. 0: only Budget limits it. It is 0 where Epsilon
	// is given, and for "sumdp" and "none".
	MaxEpsilon float64
	// Budget is the ε of everything that a client sends in the run, after which the run ends: see Trust. It is at Delta, but
	// with the trust Nobody at δ = 0. 0: none, or where there is no Epsilon either 4 with the trust Nobody, and 1 otherwise. Sums of
	// clients, and not of records, have none then.
	Budget float64
	Delta  float64 // required
	// Sparsity is s of a sparse mechanism.
	Sparsity int
	// Clip is the norm to which gradients are clipped: L1, for "sumdp" L2.
	Clip float64
	// LearningRate is the server's step size. MaxLearningRate caps the planned value, which is for
	// softmax regression; 0: no limit.
	LearningRate, MaxLearningRate float64
	// Smooth, if not nil, plans steps by the curvature of the loss. Where Rounds is 0, the number of rounds then is
	// planned with Shuffler, from 30 to 120, at most 48 with Nobody, 30 with TwoServers, and 240 without privacy, of all clients.
	Smooth *Smooth
	// L1 and L2 are a guess of the norms of a client's gradient at the first model, from
	// public data; required.
	L1, L2 float64
	// Public is as in Training: where it is given, L1 and L2 have no effect. A run whose noise is above its signal is then
	// refused with ErrNoise.
	Public *Sample
	// Examples are public ones of the task, where it is softmax regression: the run is rehearsed on them, which Run.Expected is the result
	// of. Where Public is nil, it is their Sample, and Dim is theirs.
	Examples *Examples
	// Quick has rehearsals look at a fourth of the examples in each round. They are faster, and a little less sure. It has no effect without Examples.
	Quick bool
	// PerClient is how many examples a client holds; 0: one. First is the public model that the run starts from; nil: zeros. They have
	// no effect without Examples.
	PerClient int
	First     []float64
	// ZeroShot is the accuracy of a public model that the run starts from, in (0, 1]; 0: it starts from a model of zeros,
	// or from another that knows nothing. See Run.First. A run that may well end below it is refused with
	// ErrNoise.
	ZeroShot float64
	// Force plans runs that ErrNoise refuses.
	Force bool
	// Centred is as in Training.
	Centred bool
	// Centre allows the plan to spend the first round on the mean of the features: see Run.Centring. It has no effect without
	// Examples.
	Centre bool
	// Seed is not 0 where all randomness of the run comes from a seed, for experiments. Such
	// a run is planned like any other and promises nothing.
	Seed uint64
	// Progress is as in Training. It counts rehearsals, too.
	Progress Progress
}

// Beyond these nothing is trained, and products overflow.
const (
	leastNorm, largestNorm = 1e-6, 1e6 // of a gradient
	largestRate            = 1e6       // of learning
	maxRounds              = 1_000_000
)

// IsSum says whether a mechanism adds up whole gradients with noise that depends on the cohort alone,
// and clips their L2 norm: "sumdp", "gaussian-shares" or "gaussian-site".
func IsSum(mechanism string) bool { return mechanism == hdsum.Name || isGaussian(mechanism) }

// isGaussian says whether a mechanism is one of package hdsum's sums with Gaussian noise, which may be of records.
func isGaussian(mechanism string) bool {
	return mechanism == hdsum.SharesName || mechanism == hdsum.SiteName
}

func (q Request) validate() error {
	if err := q.Trust.validate(); err != nil {
		return err
	}
	none, sum := q.Mechanism == baseline.None, IsSum(q.resolved())
	must, fixed := trustOf(q.Mechanism)
	switch {
	case !q.Trust.planned():
		return fl.Invalid("trust", string(q.Trust), "must be %s, %s, %s or %s. No run is planned for another trust. The last table of hushgrad account plan has a trusted server's figures, and so has hushgrad.compare in Python", Nobody, OwnSite, Shuffler, TwoServers)
	case fixed && q.Trust != must:
		return fl.Invalid("trust", string(q.Trust), "must be %s with the mechanism %s", must, q.Mechanism)
	case gaussianFor(q.Trust) != "" && !fixed && !none && q.Mechanism != mechanisms.Auto:
		return fl.Invalid("trust", string(q.Trust), "must be %s or %s with the mechanism %s: %s is the one for %s", Nobody, Shuffler, q.Mechanism, gaussianFor(q.Trust), q.Trust)
	case q.Trust == OwnSite && q.Records == 0 && !none:
		return fl.Invalid("records", q.Records, "must be > 0 with the trust %s: sites hold records, as in hushgrad account plan --unit record --sites 12 --records 120000", OwnSite)
	case q.Records != 0 && (none || q.Mechanism == hdsum.Name):
		return fl.Invalid("records", q.Records, "must be 0 with the mechanism %s", q.Mechanism)
	case q.Records != 0 && (q.Records < q.Clients || q.Records > fl.MaxReports):
		return fl.Invalid("records", q.Records, "must be in [clients = %d, %d], or 0", q.Clients, fl.MaxReports)
	case q.Records != 0 && gaussianFor(q.Trust) != "" && q.Cohort != 0 && q.Cohort != q.Clients:
		return fl.Invalid("cohort", q.Cohort, "must be 0, or all %d clients, with records", q.Clients)
	case q.Proof != "" && q.Proof != hdsum.ProofPrio3:
		return fl.Invalid("proof", q.Proof, "must be %s or empty", hdsum.ProofPrio3)
	case q.Proof != "" && (q.Trust != TwoServers || none):
		return fl.Invalid("proof", q.Proof, "must be empty with the trust %s and the mechanism %s: two servers check proofs, as in --trust %s", q.Trust, q.Mechanism, TwoServers)
	case q.Proof != "" && q.Records != 0:
		return fl.Invalid("proof", q.Proof, "must be empty with records: no proof says that each record of a sum is short")
	case q.OwnBudget != 0 && (q.Trust != TwoServers || none):
		return fl.Invalid("own budget", q.OwnBudget, "must be 0 with the trust %s and the mechanism %s: it is for --trust %s. Clients of %s add all the noise themselves", q.Trust, q.Mechanism, TwoServers, OwnSite)
	case q.OwnBudget != 0 && q.Proof != "":
		return fl.Invalid("own budget", q.OwnBudget, "must be 0 with --proof %s: a vector with noise is not short", q.Proof)
	case !(q.OwnBudget == 0 || q.OwnBudget >= q.Budget && q.OwnBudget <= fl.MaxEpsilon):
		return fl.Invalid("own budget", q.OwnBudget, "must be 0, or from the budget, %g, to %d: a smaller one needs no second server, as with --trust %s", q.Budget, fl.MaxEpsilon, OwnSite)
	case q.HonestBudget != 0 && (q.Trust != TwoServers || none):
		return fl.Invalid("honest budget", q.HonestBudget, "must be 0 with the trust %s and the mechanism %s: clients add a part of the noise with --trust %s", q.Trust, q.Mechanism, TwoServers)
	case q.HonestBudget != 0 && (q.Proof != "" || q.OwnBudget != 0):
		return fl.Invalid("honest budget", q.HonestBudget, "must be 0 with --proof and with --own-budget: a vector with noise is not short, and clients add one noise")
	case !(q.HonestBudget >= 0 && (q.HonestBudget == 0 || q.Budget == 0 || q.HonestBudget < q.Budget)):
		return fl.Invalid("honest budget", q.HonestBudget, "must be 0, or below the budget, %g, which holds whatever clients do", q.Budget)
	case !(q.Honest >= 0 && q.Honest <= 1) || q.Honest > 0 && q.HonestBudget == 0:
		return fl.Invalid("honest", q.Honest, "must be in (0, 1], with --honest-budget")
	case !(q.Liars >= 0 && q.Liars < 0.5):
		return fl.Invalid("liars", q.Liars, "must be in [0, 0.5)")
	case q.Liars > 0 && (q.Trust == OwnSite || q.Mechanism == hdsum.Name || none):
		return fl.Invalid("liars", q.Liars, "must be 0 with the trust %s and the mechanism %s: one client who lies moves the mean at will", q.Trust, q.Mechanism)
	case q.Liars > 0 && q.Trust == TwoServers && q.Proof == "":
		return fl.Invalid("liars", q.Liars, "must be 0 with the trust %s and no proofs: one client who lies moves the sum at will. With --proof %s two servers check how long a report is", q.Trust, hdsum.ProofPrio3)
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
		return fl.Invalid("max epsilon", q.MaxEpsilon, "must be 0: the ε of %s is not planned", q.resolved())
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
		return fl.Invalid("sparsity", q.Sparsity, "must be 0: gradients of %s are not sparse", q.resolved())
	case none && q.Clip != 0:
		return fl.Invalid("clip", q.Clip, "must be 0: %s clips nothing", q.Mechanism)
	case q.Clip != 0 && !(q.Clip >= leastNorm && q.Clip <= largestNorm):
		return fl.Invalid("clip", q.Clip, "must be in [%g, %g], or 0", leastNorm, largestNorm)
	case q.Examples != nil && (q.Examples.Dim() != q.Dim || q.First != nil && len(q.First) != q.Dim):
		return fl.Invalid("dim", q.Dim, "must be the %d parameters of softmax regression on the public examples, and the first model's %d", q.Examples.Dim(), len(q.First))
	case q.PerClient < 0 || q.PerClient > fl.MaxReports:
		return fl.Invalid("per client", q.PerClient, "must be in [0, %d]", fl.MaxReports)
	case !(q.ZeroShot >= 0 && q.ZeroShot <= 1):
		return fl.Invalid("zero shot", q.ZeroShot, "must be in [0, 1]")
	case !(q.MaxLearningRate >= 0 && q.MaxLearningRate <= largestRate):
		return fl.Invalid("max learning rate", q.MaxLearningRate, "must be in [0, %g]", largestRate)
	case !(q.LearningRate >= 0 && q.LearningRate <= largestRate):
		return fl.Invalid("learning rate", q.LearningRate, "must be in [0, %g]", largestRate)
	}
	return q.Smooth.validate()
}

// rounds is the number of rounds where none is given.
func (q Request) rounds() int {
	switch {
	case q.Smooth != nil && q.Mechanism == baseline.None:
		return bareSmooth
	case q.Smooth != nil && q.Trust == Nobody:
		return max(1, min(disjointSmooth, q.Clients/leastCohort))
	case q.Mechanism == hdsum.Name:
		return 10 // a report has thousands of messages
	case q.Mechanism == baseline.None:
		return bareRounds
	case q.Trust == Nobody:
		most := disjointRounds
		if q.softmaxFromZeros() {
			most = disjointFromZeros
		}
		return max(1, min(most, q.Clients/leastCohort))
	}
	return 30
}

// Rounds without privacy, in which no noise adds up: as many as softmax regression takes to come near its best model. A
// cohort has clients enough for a large learning rate.
const (
	bareRounds = 100
	bareCohort = 600
)

// Rounds of clients that report once: many enough for a model to follow its gradient, and each with as many
// reports as standard errors take. The noise of the run does not depend on their number. Softmax regression that starts from zeros has the
// longest way, and ends nearer its best model in smaller steps.
const (
	disjointRounds    = 16
	disjointFromZeros = 60
	leastCohort       = 25
)

// networkRate is a learning rate at which networks with hidden units still learn: unlike softmax regression's
// loss, their loss is not convex.
const networkRate = 2

// FillNetwork says to a request about a network with hidden units what is public: gradients of public examples at the
// random first model, SampleSize of them. trainer.GradientSample computes them. They are kept and not copied. What the request
// said about softmax regression is gone. Errors are NewSample's, and leave the request as it is.
func (q *Request) FillNetwork(gradients [][]float64) error {
	sample, err := NewSample(gradients)
	if err != nil {
		return err
	}
	q.Dim, q.MaxLearningRate = len(gradients[0]), networkRate
	q.First, q.ZeroShot, q.Examples = nil, 0, nil
	q.Public = sample
	q.L1, q.L2 = sample.Norms()
	return nil
}
