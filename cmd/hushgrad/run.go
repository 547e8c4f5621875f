package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/descent"
	"github.com/hushgrad/hushgrad/internal/npy"
	"github.com/hushgrad/hushgrad/plan"
)

const (
	// maxRounds is the most rounds of a run.
	maxRounds = 1_000_000
	// stateSuffix follows a plan's name in the name of its state.
	stateSuffix = ".state"
)

// runFlags are the keys of a plan, and the flags of run.
type runFlags struct {
	roundFlags
	issuer            remote
	flags             *flag.FlagSet
	path              string // of the plan
	name, model, out  string
	rounds, clients   int
	steps             plan.Steps
	budget, delta     float64
	trust             plan.Trust
	dryRun            bool
	first             []float64 // the first model
	digest            string    // of its file
	mechanism         fl.Mechanism
	spending          *plan.Spending
	limit             int // rounds that the budget allows
	participates, one plan.Promise
}

func newRun() *cobra.Command {
	r := &runFlags{}
	c := newCommand("run [flags] PLAN", "train a model by a plan, round after round", `Trains a model by a plan, as an operator: publishes the model, opens a round, waits until it has
its reports or its deadline has come, steps along the estimate (SGD with momentum), and goes on,
until the plan's rounds or its budget end. A plan is a TOML file whose keys are the flags below.

  hushgrad run --dry-run plan.toml
  hushgrad run plan.toml

How far the run has come is in the file PLAN.state beside the plan. After a crash or an interrupt,
at any instant, the same command goes on: it takes up the round that is open, and takes no step
twice. A round is named NAME-0001 and so on. A round without an estimate counts, because its
clients have reported. After three of them in a row the run stops.

The budget is the ε of all reports of a client together. A client may report in each round, unless
--clients says that clients take part in turn. The run does not enforce that: clients do, by
their ledger.
`, nil)
	c.Args = oneArgument("plan")
	r.bind(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		std := command.Streams{In: c.InOrStdin(), Out: c.OutOrStdout(), Err: c.ErrOrStderr()}
		if err := r.read(c.CommandPath(), args[0]); err != nil {
			return err
		}
		if err := r.prepare(c.Context()); err != nil {
			return err
		}
		if r.dryRun {
			return r.foretell(std.Out)
		}
		return r.run(c.Context(), std)
	}
	return c
}

func (r *runFlags) bind(f *flag.FlagSet) {
	r.flags = f
	f.StringVar(&r.model, "model", "", "`file` of the first model, a NumPy array of --dim float64 in one dimension; empty: zeros, with which softmax regression begins")
	f.StringVar(&r.name, "name", "", "what the names of the rounds begin with; empty: the name of the plan's file")
	f.IntVar(&r.rounds, "rounds", 0, "number of rounds, required")
	f.Float64Var(&r.steps.LearningRate, "lr", 0, "learning rate of the server, required; hushgrad account plan plans one")
	f.Float64Var(&r.steps.Momentum, "momentum", 0, "momentum of the server, in [0, 1); 0: plain SGD")
	f.Float64Var(&r.steps.Averaging, "averaging", 0, "decay of the average of the models, in [0, 1), which is the last model that is published; 0: it is the last one")
	r.bindDescription(f)
	f.DurationVar(&r.lasts, "deadline", 0, "time after its opening at which a round closes; 0: it closes at --target-reports alone")
	f.Float64Var(&r.budget, "budget", 0, "ε of all reports of a client together, which ends the run; 0: none")
	f.Float64Var(&r.delta, "budget-delta", 1e-6, "δ of the budget, but for a local ε with --trust nobody")
	command.OneOf(f, &r.trust, "trust", "", append([]plan.Trust{""}, plan.Nobody, plan.OwnSite, plan.Shuffler, plan.TwoServers), "whom clients trust, which says what the budget bounds: the local ε with nobody and own-site, the central ε with others; empty: whom the mechanism needs, and nobody where it needs none")
	f.IntVar(&r.clients, "clients", 0, "number of clients, who take part in turn in rounds of --target-reports; 0: each may report in every round")
	f.StringVar(&r.out, "out", "", "`file` for the trained model; empty: it is published alone")
	f.BoolVar(&r.dryRun, "dry-run", false, "print what would be done, what it costs clients and whether the budget is enough; nothing is contacted or written")
	r.output.bind(f)
	command.Topic(f, "The server", func(f *flag.FlagSet) {
		r.remote.server = "127.0.0.1:7118"
		r.remote.bind(f, "its operator's listener")
		r.bindShuffler(f)
	})
	command.Topic(f, "The issuer", func(f *flag.FlagSet) {
		r.issuer.bindParty(f, "issuer", "issuer-", "hushgrad issue", "its operator's listener, where the keys of each round are made; empty: reports need no token")
	})
}

// notPlan are the flags that may change while a run goes on.
var notPlan = []string{"out", "dry-run", outputFlag, "config", "help", "server", "tls-ca", "tls-cert", "tls-key", "issuer-tls-ca", "issuer-tls-cert", "issuer-tls-key"}

// read takes the keys of a plan that no flag and no variable has set.
func (r *runFlags) read(of, path string) error {
	if command.Given(r.flags, "config") {
		return fl.Invalid("--config", r.flags.Lookup("config").Value.String(), "must not be given: the plan has the flags")
	}
	if info, err := os.Stat(path); err != nil {
		return fl.Invalid("plan", path, "must be a file that can be read: %v", err)
	} else if info.IsDir() {
		return fl.Invalid("plan", path, "must be a file, not a directory")
	}
	if err := r.flags.Set("config", path); err != nil {
		return err
	}
	r.path = path
	return command.Configure(of, r.flags)
}

// given are the values of the plan by their keys.
func (r *runFlags) given() map[string]string {
	values := map[string]string{"model": r.digest}
	r.flags.VisitAll(func(f *flag.Flag) {
		if f.Name != "model" && !slices.Contains(notPlan, f.Name) {
			values[f.Name] = f.Value.String()
		}
	})
	return values
}

// validate checks what no mechanism checks.
func (r *runFlags) validate() error {
	t := r.round.TargetReports
	switch {
	case r.model != "" && r.model == r.out:
		return fl.Invalid("--out", r.out, "must be another file than the first model, with which a run that was interrupted goes on")
	case r.rounds < 1 || r.rounds > maxRounds:
		return fl.Invalid("rounds", r.rounds, "must be in [1, %d]", maxRounds)
	case r.lasts < 0:
		return fl.Invalid("deadline", r.lasts, "must be >= 0")
	case t == 0 && r.lasts == 0:
		return fl.Invalid("target-reports and deadline", 0, "must not both be 0: no round would end")
	case !(r.budget >= 0):
		return fl.Invalid("budget", r.budget, "must be at least 0")
	case r.clients != 0 && (t == 0 || r.clients < t || r.clients > fl.MaxReports):
		return fl.Invalid("clients", r.clients, "must be 0 or in [target-reports = %d, %d]: as many take part in turn", t, fl.MaxReports)
	case r.remote.server == "":
		return fl.Invalid("server", "", "is required: the operator's listener of hushgrad serve")
	case len(r.shareKey) > 0 && r.shuffler == "":
		return fl.Invalid("share-key", fmt.Sprintf("%d bytes", len(r.shareKey)), "needs shuffler, whose key it is")
	}
	if r.out != "" {
		if err := command.Place("--out", r.out); err != nil {
			return err
		}
	}
	return cmp.Or(r.remote.validate(), r.issuer.validate())
}

// prepare checks the plan, reads its model and finds out how many rounds the budget allows.
func (r *runFlags) prepare(ctx context.Context) (err error) {
	if err := r.validate(); err != nil {
		return err
	}
	r.round.ID = "checked"
	r.name = cmp.Or(r.name, strings.TrimSuffix(filepath.Base(r.path), filepath.Ext(r.path)))
	complete, err := command.Await(ctx, func() (complete fl.Round, err error) {
		complete, r.mechanism, err = fl.Complete(r.round)
		return complete, err
	})
	if err = r.asked(err); err != nil {
		return err
	}
	r.round = complete
	r.round.ID = r.id(1)
	if err := r.round.Validate(); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if err := r.readModel(); err != nil {
		return err
	}
	if _, err := descent.New(r.descends(), r.first); err != nil {
		return err
	}
	return r.account(ctx)
}

// id is the name of a round, from 1.
func (r *runFlags) id(round int) string { return fmt.Sprintf("%s-%04d", r.name, round) }

// descends is what the server does with the means.
func (r *runFlags) descends() descent.Config {
	return descent.Config{
		Optimizer: descent.OptimizerConfig{Name: "momentum", LearningRate: r.steps.LearningRate, Momentum: r.steps.Momentum},
		Averaging: r.steps.Averaging,
	}
}

// readModel reads the first model. It holds no more than the model needs.
func (r *runFlags) readModel() error {
	if r.model == "" {
		r.first = make([]float64, r.round.Dim)
		return nil
	}
	in, err := os.Open(r.model)
	if err != nil {
		return fl.Invalid("model", r.model, "must be readable: %v", err)
	}
	defer in.Close()
	sum := sha256.New()
	if r.first, err = npy.Read(io.TeeReader(in, sum), r.round.Dim); err != nil {
		return fmt.Errorf("%w: %w", fl.Invalid("model", r.model, "must be a .npy file of dim = %d float64", r.round.Dim), err)
	}
	r.digest = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// trusts are whom clients may trust with a guarantee, the usual one first.
func trusts(g fl.Guarantee) []plan.Trust {
	switch {
	case g.Trust == fl.Local && g.Sigma > 0:
		return []plan.Trust{plan.OwnSite}
	case g.Trust == fl.Local:
		return []plan.Trust{plan.Nobody, plan.Shuffler}
	case g.Trust == fl.Shuffle:
		return []plan.Trust{plan.Shuffler}
	case g.Trust == fl.TwoServers:
		return []plan.Trust{plan.TwoServers}
	}
	return nil
}

// account finds out what the rounds cost a client, and where the budget ends the run.
func (r *runFlags) account(ctx context.Context) (err error) {
	possible := trusts(r.mechanism.Guarantee())
	switch {
	case len(possible) == 0 && r.budget > 0:
		return fl.Invalid("budget", r.budget, "must be 0 with mechanism = %q, whose reports promise nothing", r.round.Mechanism)
	case len(possible) == 0:
	case r.trust == "":
		r.trust = possible[0]
	case !slices.Contains(possible, r.trust):
		return fl.Invalid("trust", string(r.trust), "must be one of %s with mechanism = %q", strings.Trim(fmt.Sprint(possible), "[]"), r.round.Mechanism)
	}
	if r.budget > 0 && r.shuffler == "" && (r.trust == plan.Shuffler || r.trust == plan.TwoServers) {
		return fl.Invalid("trust", string(r.trust), "needs shuffler = NAME in the plan with a budget: without a shuffler the server sees who sent which report, and no central ε holds against it")
	}
	// A round may have no more than its least reports: they are the crowd in which one report hides. As many clients as there are
	// in turn, in the same proportion, take part as often.
	least := r.round.MinReports
	clients := least
	if r.clients > 0 {
		clients = int(int64(r.clients) * int64(least) / int64(r.round.TargetReports))
	}
	if r.spending, err = plan.NewSpending(r.mechanism, clients, least, r.delta); err != nil {
		return err
	}
	if r.one, err = r.promise(ctx, 1); err != nil {
		return err
	}
	r.limit = r.rounds
	if r.budget > 0 {
		if r.limit, err = r.spending.Within(ctx, r.trust, r.budget, r.rounds); err != nil {
			return err
		}
		if r.limit == 0 {
			return fl.Invalid("budget", r.budget, "must be at least the ε of one round: %s", r.one)
		}
	}
	r.participates, err = r.promise(ctx, r.limit)
	return err
}

// promise is what the first rounds promise a client.
func (r *runFlags) promise(ctx context.Context, rounds int) (plan.Promise, error) {
	p, err := r.spending.Promise(ctx, rounds)
	p.Unit = plan.Client
	if r.round.AboutRecords() {
		p.Unit = plan.Record
	}
	if r.trust == plan.Nobody {
		p.Central = nil // it would trust a shuffler
	}
	return p, err
}

// saveModel writes the trained model to the file that was asked for.
func (r *runFlags) saveModel(ctx context.Context, text []byte) error {
	if r.out == "" {
		return nil
	}
	return command.Replace(ctx, r.out, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// weightsOf is a model as it is published.
func weightsOf(params []float64) ([]byte, error) {
	var text bytes.Buffer
	err := npy.Write(&text, params)
	return text.Bytes(), err
}

// run holds the rounds that are left.
func (r *runFlags) run(ctx context.Context, std command.Streams) (err error) {
	state, err := openState(r.path+stateSuffix, r.given(), r.descends(), r.first)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	s := &schedule{runFlags: r, runState: state, std: std, patience: patience{notes: std.Err}}
	return s.all(ctx)
}
