package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/auto"
	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/tiers"
	"github.com/hushgrad/hushgrad/trainer"
)

// config is what the flags say.
type config struct {
	data      string
	mechanism string
	epsilon   float64
	delta     float64
	clients   int
	cohort    int
	rounds    int
	budget    float64
	sparsity  int
	clip      float64
	lr        float64
	momentum  float64
	averaging float64
	model     string
	features  string
	pool      int
	explain   bool
	seed      uint64
	out       string
	testSize  int
	sum       sumConfig
	force     bool
	tiers     string
	menu      []tier // of tiers
}

// sumConfig is what only rounds of sumdp need.
type sumConfig struct {
	span        float64
	levels      int
	base        string
	calibration string
}

// mechanisms are the values of -mechanism.
var mechanisms = []string{auto.Name, coco.Name, collision.Name, signsketch.Name, hdsum.Name, dense.Name}

// The values of -features.
const (
	edges  = "edges"
	pixels = "pixels"
)

// defaultBudget is the central ε of a run that nobody asked for another ε.
const defaultBudget = 1

// defaults are the settings of a mechanism. What is 0 is planned when the data is there,
// see planned. sumdp, whose noise depends on the cohort and not on the number of rounds,
// is not planned: few large cohorts are better, each client in one of them.
func defaults(mechanism string) config {
	c := config{
		mechanism: mechanism,
		delta:     1e-6,
		clients:   60000,
		rounds:    30,
		momentum:  -1,
		averaging: -1,
		model:     "softmax",
		pool:      2,
		sum:       sumConfig{span: 0.8, levels: 1, base: hdsum.Auto.String(), calibration: gkmps.Certified.String()},
	}
	if mechanism == hdsum.Name {
		c.epsilon, c.cohort, c.rounds, c.clip, c.lr = 1, 6000, 10, 1.4, 20
	}
	return c
}

func parseFlags(args []string, stderr io.Writer) (config, error) {
	c := defaults(mechanismOf(args))
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, `Usage: mnist [flags]

Trains a digit classifier under differential privacy: a parameter server on a
loopback port, simulated clients over gRPC, one report per client and round. What is
not given is planned, from public numbers only: see -explain.

`)
		f.PrintDefaults()
	}
	f.StringVar(&c.data, "data", c.data, "`directory` with the four MNIST idx files; empty: the user cache, then a download, then generated digits")
	f.StringVar(&c.mechanism, "mechanism", c.mechanism, strings.Join(mechanisms, ", "))
	f.Float64Var(&c.epsilon, "epsilon", c.epsilon, "privacy budget ε of one report: local, or central with sumdp; 0: the largest that -budget allows")
	f.Float64Var(&c.delta, "delta", c.delta, "δ at which the central ε is stated")
	f.IntVar(&c.clients, "clients", c.clients, "number of clients; the training images are split evenly among them")
	f.IntVar(&c.cohort, "cohort", c.cohort, "reports per round; 0: planned")
	f.IntVar(&c.rounds, "rounds", c.rounds, "number of rounds; with more than clients/cohort, clients take part again and their guarantees compose")
	f.Float64Var(&c.budget, "budget", c.budget, fmt.Sprintf("central ε of the whole run at -delta, after which it stops; 0: none, or %d where -epsilon is not given either", defaultBudget))
	f.IntVar(&c.sparsity, "sparsity", c.sparsity, "signed coordinates per client before the randomizer, s; 0: planned")
	f.Float64Var(&c.clip, "clip", c.clip, "clip norm of a client's gradient: L1, τ·s, with coordinates capped at τ; L2 with sumdp; 0: planned")
	f.Float64Var(&c.lr, "lr", c.lr, "learning rate of the server; 0: planned")
	f.Float64Var(&c.momentum, "momentum", c.momentum, "momentum of the server, in [0, 1); -1: planned")
	f.Float64Var(&c.averaging, "averaging", c.averaging, "decay of the average of the models, in [0, 1), which is the one that counts; -1: planned")
	f.BoolVar(&c.explain, "explain", c.explain, "say what was planned and why")
	f.StringVar(&c.features, "features", c.features, "edges (oriented edges in 7×7 blocks) or pixels; empty: edges, or pixels for cnn")
	f.StringVar(&c.model, "model", c.model, strings.Join(trainer.ModelNames(), ", "))
	f.IntVar(&c.pool, "pool", c.pool, "average-pool pixels by this factor (2 gives 14×14)")
	f.Uint64Var(&c.seed, "seed", c.seed, "0: fresh randomness for every client; any other value makes the run repeatable and is for experiments only")
	f.StringVar(&c.out, "out", c.out, "`directory` for history.csv, summary.json, accuracy.png and model.npy")
	f.IntVar(&c.testSize, "test-size", c.testSize, "use only the first `n` test images; 0 uses all")
	f.Float64Var(&c.sum.span, "range", c.sum.span, "sumdp: largest rotated coordinate, in units of clip/√dim; larger ones are clipped, and noise grows in proportion")
	f.IntVar(&c.sum.levels, "levels", c.sum.levels, "sumdp: integer levels of a rotated coordinate")
	f.StringVar(&c.sum.base, "base", c.sum.base, "sumdp: the sum below, gkmps or bbgn; auto: whichever has the shorter reports")
	f.StringVar(&c.sum.calibration, "calibration", c.sum.calibration, "sumdp: constants of gkmps, published, certified or tight; tight sends fewer messages")
	f.StringVar(&c.tiers, "tiers", c.tiers, "clients choose their own ε: `list` of ε:share, like 0.5:0.5,2:0.3,8:0.2; instead of -epsilon, for local mechanisms")
	f.BoolVar(&c.force, "force", c.force, "run whatever the upload")
	if err := f.Parse(args); err != nil {
		return config{}, err
	}
	if f.NArg() > 0 {
		return config{}, fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see -help")
	}
	var err error
	if c.menu, err = parseTiers(c.tiers); err != nil {
		return config{}, err
	}
	if c.epsilon == 0 && c.budget == 0 && c.private() && len(c.menu) == 0 {
		c.budget = defaultBudget
	}
	return c, c.validate()
}

func (c config) private() bool { return c.mechanism != dense.Name }

// mechanismOf finds the value of -mechanism, on which the other defaults depend.
func mechanismOf(args []string) string {
	name := auto.Name
	for i, arg := range args {
		flag, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		switch {
		case flag != "mechanism" || flag == arg:
		case ok:
			name = value
		case i+1 < len(args):
			name = args[i+1]
		}
	}
	return name
}

func (c config) validate() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case !slices.Contains(mechanisms, c.mechanism):
		return fl.Invalid("-mechanism", c.mechanism, "must be one of %s", strings.Join(mechanisms, ", "))
	case !slices.Contains(trainer.ModelNames(), c.model):
		return fl.Invalid("-model", c.model, "must be one of %s", strings.Join(trainer.ModelNames(), ", "))
	case c.features != "" && c.features != edges && c.features != pixels:
		return fl.Invalid("-features", c.features, "must be %s or %s", edges, pixels)
	case !(c.epsilon >= 0 && c.epsilon <= fl.MaxEpsilon):
		return fl.Invalid("-epsilon", c.epsilon, "must be in [0, %d]", fl.MaxEpsilon)
	case c.epsilon == 0 && c.mechanism == hdsum.Name:
		return fl.Invalid("-epsilon", c.epsilon, "must be > 0: sumdp is not planned")
	case !(c.delta > 0 && c.delta < 1):
		return fl.Invalid("-delta", c.delta, "must be in (0, 1)")
	case c.clients < 2:
		return fl.Invalid("-clients", c.clients, "must be at least 2")
	case c.cohort < 0 || c.cohort == 1:
		return fl.Invalid("-cohort", c.cohort, "must be at least 2, or 0")
	case c.rounds < 1:
		return fl.Invalid("-rounds", c.rounds, "must be at least 1")
	case c.clients < c.cohort:
		return fl.Invalid("-clients", c.clients, "must be at least -cohort = %d", c.cohort)
	case !(c.budget >= 0) || math.IsInf(c.budget, 1):
		return fl.Invalid("-budget", c.budget, "must be finite and at least 0")
	case c.budget > 0 && c.mechanism == dense.Name:
		return fl.Invalid("-budget", c.budget, "must be 0: %s has no privacy to spend", dense.Name)
	case c.sparsity < 0:
		return fl.Invalid("-sparsity", c.sparsity, "must be at least 0")
	case c.clip != 0 && !positive(c.clip):
		return fl.Invalid("-clip", c.clip, "must be finite and at least 0")
	case c.lr != 0 && !positive(c.lr):
		return fl.Invalid("-lr", c.lr, "must be finite and at least 0")
	case c.momentum != -1 && !(c.momentum >= 0 && c.momentum < 1):
		return fl.Invalid("-momentum", c.momentum, "must be in [0, 1), or -1")
	case c.averaging != -1 && !(c.averaging >= 0 && c.averaging < 1):
		return fl.Invalid("-averaging", c.averaging, "must be in [0, 1), or -1")
	case len(c.menu) > 0 && c.epsilon > 0:
		return fl.Invalid("-epsilon", c.epsilon, "must not be given with -tiers, which say it")
	case len(c.menu) > 0 && (c.mechanism == dense.Name || c.mechanism == hdsum.Name):
		return fl.Invalid("-tiers", c.tiers, "must have a local mechanism, not %s", c.mechanism)
	case len(c.menu) > 0 && c.budget > 0:
		return fl.Invalid("-budget", c.budget, "must be 0 with -tiers: their central ε is not composed")
	case c.pool < 1:
		return fl.Invalid("-pool", c.pool, "must be at least 1")
	}
	return nil
}

// round describes round number i (from 0) of the run.
func (c config) round(i, dim int) fl.Round {
	r := fl.Round{
		ID:            fmt.Sprintf("mnist-%03d", i+1),
		Mechanism:     c.mechanism,
		Dim:           dim,
		Scale:         c.clip / float64(c.sparsity),
		Epsilon:       c.epsilon,
		Relation:      fl.ReplaceOne,
		MinReports:    c.cohort,
		TargetReports: c.cohort,
		PublicSeed:    c.publicSeed(i),
	}
	if len(c.menu) > 0 {
		r.Mechanism, r.Epsilon = tiers.Name, c.menu[len(c.menu)-1].epsilon
		r.Params = fl.Params{
			tiers.ParamBase: fl.Text(c.mechanism), tiers.ParamMenu: fl.Text(menu(c.menu)), "sparsity": fl.Int(c.sparsity),
		}
		return r
	}
	switch c.mechanism {
	case dense.Name:
		r.Epsilon = math.Inf(1)
	case hdsum.Name:
		r.Scale, r.Delta, r.Params = c.clip, c.roundDelta(), c.sum.params()
	default:
		r.Params = fl.Params{"sparsity": fl.Int(c.sparsity)}
	}
	return r
}

// participations is how often a client takes part in the first rounds rounds, at
// most.
func (c config) participations(rounds int) int {
	perEpoch := c.clients / c.cohort
	return (rounds + perEpoch - 1) / perEpoch
}

// roundDelta is the δ of one round of sumdp. With several rounds per client half of
// -delta goes to the rounds and half to their composition.
func (c config) roundDelta() float64 {
	if k := c.participations(c.rounds); k > 1 {
		return c.delta / float64(2*k)
	}
	return c.delta
}

func (c sumConfig) params() fl.Params {
	p := fl.Params{
		hdsum.ParamRange:       fl.Real(c.span),
		hdsum.ParamLevels:      fl.Int(c.levels),
		hdsum.ParamCalibration: fl.Text(c.calibration),
	}
	if c.base != hdsum.Auto.String() {
		p[hdsum.ParamBase] = fl.Text(c.base)
	}
	return p
}

// policies are what the run's clients demand of a round, tier by tier.
func (c config) policies() []fl.Policy {
	if len(c.menu) == 0 {
		return []fl.Policy{c.policy()}
	}
	var out []fl.Policy
	for _, t := range c.menu {
		out = append(out, fl.Policy{MaxEpsilon: t.epsilon, MinReports: c.cohort})
	}
	return out
}

// policy is that of clients without tiers. In this demo the server is its own
// shuffler, so a client of sumdp has to trust it.
func (c config) policy() fl.Policy {
	p := fl.Policy{MaxEpsilon: c.epsilon, MinReports: c.cohort}
	switch c.mechanism {
	case dense.Name:
		p.MaxEpsilon = math.Inf(1)
	case hdsum.Name:
		p.MaxDelta, p.TrustShuffler = c.roundDelta(), true
	}
	return p
}
