// Command tabular trains a linear model of a table under differential privacy: every row belongs
// to a client, who sends one small randomized report in each round in which it takes part. Use it
// to try private training on a table of your own. Start with the first of these:
//
//	go run ./examples/tabular                                    # who earns much, on a generated table
//	go run ./examples/tabular --target wage=0..100                # linear regression
//	go run ./examples/tabular --data people.csv --columns "age=17..90,sector=public|private|none" --target "income=low|high"
//	go run ./examples/tabular --trust two-servers --clients 2000  # by two servers, over gRPC
//
// Ranges and lists of values are public and must not be read off the rows. The clients are
// simulated in this process, and nothing shuffles, but with --trust two-servers.
//
// Read on below. What is public about a table is in columns.go, its rows are in rows.go, how columns
// are scaled is in scaling.go, and what is learnt is in task.go.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/internal/training"
	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/history"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

func main() { command.Main("tabular", tabular) }

// options are what the flags say.
type options struct {
	data, out string
	predict   string // a file of rows without a target
	id        string // its column that names the rows
	unseen    *unseen
	expand    string
	binary    string // hushgrad, for two servers
	separator rune   // of the cells of the file
	onePerRow bool   // a client for each row of the file
	schema    schema
	request   *plan.Request
	seed      uint64
	explain   bool
	check     func() error // of the request, once the number of clients is known
	flags     *flag.FlagSet
}

func parse(args []string, stdout io.Writer) (o options, err error) {
	f := flag.NewFlagSet("tabular", flag.ContinueOnError)
	f.SetOutput(stdout)
	f.StringVar(&o.data, "data", "", "CSV `file` with a header, one row per client; every fifth row is for testing; empty: a generated table")
	separator := f.String("separator", ",", "`character` between the cells of the file, such as ; or tab")
	columns := f.String("columns", generatedColumns, "columns of the model with what is public about them, between commas: a range of numbers such as age=17..90, with a mean and a spread where they are known, age=17..90~40±15, or ~log where most numbers are small; a `list` of values such as sector=a|b, or a file of many, city=@cities.txt; city=#64 has any values share 64 buckets, and so has city=@cities.txt#64")
	target := f.String("target", generatedTarget, "column to predict, which the model does not see: two values for logistic regression, more for softmax regression, a range for linear regression")
	f.StringVar(&o.expand, "expand", "", "features that are added to the columns, from public numbers alone: products, of each two columns and squares, or fourier:K, K random Fourier features, or fourier:K:SEED; empty: none")
	f.StringVar(&o.out, "out", "", "`directory` for history.csv, summary.json, a picture and coefficients.csv")
	f.StringVar(&o.predict, "predict", "", "CSV `file` of new rows, without a target: what the trained model predicts for them goes to predictions.csv of --out")
	f.StringVar(&o.id, "id", "", "`column` of the file of --predict that names its rows, such as customer_id: it is copied to predictions.csv, and no model sees it")
	f.Uint64Var(&o.seed, "seed", 0, "0: fresh randomness; any other value makes the run repeatable, without any privacy")
	f.StringVar(&o.binary, "hushgrad", "", "with --trust two-servers: the hushgrad binary, a `file`; empty: it is built, in the directory of the module")
	f.BoolVar(&o.explain, "explain", false, "print what was planned and why")
	request, check := plan.Flags(f)
	for name, usage := range local {
		f.Lookup(name).Usage = usage
	}
	f.Lookup("clients").DefValue = "0" // help shows none: it depends on --data
	command.Without(f, "mechanism", "with "+hdsum.Name+" clients would have to trust the server", hdsum.Name)
	command.Without(f, "trust", "each client has one row, and no site has many", string(plan.OwnSite), string(plan.Server))
	o.request, o.check, o.flags = request, check, f
	if err := command.ParseOnly(f, args); err != nil {
		return o, err
	}
	for _, flag := range [][2]string{{"columns", "age=17..90,region=north|south"}, {"target", "income=low|high"}} {
		if o.data != "" && !command.Given(f, flag[0]) {
			return o, fl.Invalid("--"+flag[0], "", "must be given with --data: it says what is public, such as --%s %q", flag[0], flag[1])
		}
	}
	switch {
	case o.predict == "" && o.id != "":
		return o, fl.Invalid("--id", o.id, "needs --predict, a file whose rows it names")
	case o.predict != "" && o.out == "":
		return o, fl.Invalid("--predict", o.predict, "needs --out, a directory for predictions.csv")
	case o.predict == "" && o.data == "":
		if err := command.Unused(f, "without --data or --predict", "separator"); err != nil {
			return o, err
		}
	}
	if o.separator, err = parseSeparator(*separator); err != nil {
		return o, err
	}
	if o.schema, err = parseSchema(*columns, *target); err != nil {
		return o, err
	}
	if o.schema.expand, err = parseExpansion(o.expand, o.schema); err != nil {
		return o, err
	}
	if o.data == "" {
		if err := o.schema.isGenerated(); err != nil {
			return o, err
		}
	}
	switch two := request.Trust == plan.TwoServers; {
	case request.Mechanism == hdsum.SharesName && !two:
		return o, fl.Invalid("--mechanism", request.Mechanism, "needs --trust %s", plan.TwoServers)
	case two && o.seed != 0:
		return o, fl.Invalid("--seed", o.seed, "must be 0 with --trust %s: tokens and seals are always fresh", plan.TwoServers)
	case !two && o.binary != "":
		return o, fl.Invalid("--hushgrad", o.binary, "needs --trust %s", plan.TwoServers)
	}
	if err := parties.CheckBinary(o.binary); err != nil {
		return o, err
	}
	if o.onePerRow = o.data != "" && !command.Given(f, "clients"); o.onePerRow {
		return o, nil
	}
	return o, check()
}

// local are the flags of plan.Flags that say something of mechanisms that this example does not have.
var local = map[string]string{
	"mechanism": "auto, coco, collision, privunit, signsketch or none; gaussian-shares with --trust two-servers",
	"trust":     "whom the clients trust: nobody, shuffler or two-servers, which run in processes of their own; empty: nobody",
	"clients":   "number of clients, which take part in turn; not given: 60000 with a generated table, and with --data one for each row for training",
	"budget":    "ε of everything that a client sends in the run, after which it ends: local with --trust nobody, otherwise central at --delta; 0: none, or where --epsilon is not given either 4 with --trust nobody and 1 otherwise",
	"clip":      "norm to which a client's gradient is clipped: L1, or L2 with privunit and two servers; 0: planned",
	"epsilon":   "ε of one report; 0: the largest that --budget allows",
	"cohort":    "clients of a round; 0: planned, and with --trust two-servers at most 6000, so that one machine simulates them in minutes",
	"rounds":    "rounds; the guarantees of a client's reports compose; 0: planned, from 30 to 120 with --trust shuffler, 30 with two-servers and at most 48 with nobody",
}

// isGenerated says whether all columns are of the generated table.
func (s schema) isGenerated() error {
	all := strings.Join([]string{generatedColumns, generatedTarget, generatedOther}, ",")
	known, err := parseColumns("--columns", all)
	if err != nil {
		return err
	}
	for _, c := range s.columns() {
		if !slices.ContainsFunc(known, func(k column) bool { return k.name == c.name }) {
			return fl.Invalid("--columns", c.name, "must be of the generated table, which has %s", all)
		}
	}
	return nil
}

// tabular reads the table, plans a run and trains.
func tabular(ctx context.Context, args []string, std command.Streams) error {
	o, err := parse(args, std.Out)
	if err != nil {
		return err
	}
	if err := history.Writable("--out", o.out); err != nil {
		return err
	}
	table, note, err := o.load(ctx)
	if err != nil {
		return err
	}
	if o.predict != "" {
		if o.unseen, err = o.readUnseen(ctx); err != nil {
			return err
		}
	}
	train, test := table.train, table.test
	if o.onePerRow {
		o.request.Clients = len(train.y)
		if err := o.check(); err != nil {
			return err
		}
	}
	if o.request.Clients > len(train.y) {
		return fl.Invalid("--clients", o.request.Clients, "must be at most the number of rows for training, %d", len(train.y))
	}
	train = rows{train.x[:o.request.Clients], train.y[:o.request.Clients]}
	t, err := newTask(o.schema)
	if err != nil {
		return err
	}
	run, err := o.plan(ctx, t, std.Err)
	if err != nil {
		return plan.OfFlag(o.flags, err)
	}
	fmt.Fprintf(std.Out, "%s\n%s of %s, %d parameters, simulated on one of %d cores\n", note, t.name, o.schema.target.name, t.dim, runtime.NumCPU())
	if wrong := table.misfits.sentences(); len(wrong) > 0 {
		if err := (plan.Words{About: "does not fit", Text: wrong}).Print(std.Out); err != nil {
			return err
		}
	}
	if lost := table.hashed.sentences(); len(lost) > 0 {
		if err := (plan.Words{About: "hashed", Text: lost}).Print(std.Out); err != nil {
			return err
		}
	}
	if o.unseen != nil {
		if err := (plan.Words{About: "to predict", Text: o.unseen.sentences()}).Print(std.Out); err != nil {
			return err
		}
	}
	if o.schema.expand.width() > 0 {
		if err := (plan.Words{About: "expanded", Text: []string{o.schema.expand.sentence()}}).Print(std.Out); err != nil {
			return err
		}
	}
	if err := run.PrintStart(std.Out, o.explain); err != nil {
		return err
	}
	return o.train(ctx, t, run, train, test, std)
}

// testRows is the number of generated rows that no client holds.
const testRows = 10_000

// load returns the table and a line about where it comes from.
func (o options) load(ctx context.Context) (t *table, note string, err error) {
	from := o.data
	if from == "" {
		from, t = "a generated table", generate(rand.New(rand.NewPCG(1, o.seed)), o.request.Clients, testRows, o.schema)
		err = t.check()
	} else {
		t, err = readFile(ctx, o.data, o.separator, o.schema)
	}
	if err != nil {
		return nil, "", err
	}
	return t, fmt.Sprintf("%d rows of %s for training, %d for testing", len(t.train.y), from, len(t.test.y)), nil
}

// publicRows is the number of rows that are drawn to see what gradients are like.
const publicRows = 2000

// plan decides what the flags leave open, from public numbers only.
func (o options) plan(ctx context.Context, t task, log io.Writer) (*plan.Run, error) {
	rng := rand.New(rand.NewPCG(2, 1))
	public, err := t.gradients(o.schema.expand.of(draw(rng, publicRows, o.schema)), rng)
	if err != nil {
		return nil, err
	}
	defer public.Close()
	r := *o.request
	parties.Simulate(&r)
	r.Dim, r.Seed = t.dim, o.seed
	r.Smooth = &plan.Smooth{Curvature: t.curvature * o.schema.squares(), Norm: t.norm * o.schema.spreadOut(), Loss: t.loss, Chances: o.schema.target.values != nil}
	if r.Public, err = sample(ctx, public); err != nil {
		return nil, err
	}
	fmt.Fprintln(log, "planning the run from public numbers")
	bar := progress.New(log, "planning")
	defer bar.Close()
	r.Progress = bar
	return r.Run(ctx)
}

// train is the whole run.
func (o options) train(ctx context.Context, t task, run *plan.Run, train, test rows, std command.Streams) (err error) {
	w := std.Out
	rng := fl.NewRand()
	if o.seed != 0 {
		rng = rand.New(rand.NewPCG(3, o.seed))
	}
	scale, expand := newScaling(o.schema), o.schema.expand
	prepared, err := scale.prepare(run)
	if err != nil {
		return err
	}
	if prepared.text != "" {
		if err := (plan.Words{About: "columns", Text: []string{prepared.text}}).Print(w); err != nil {
			return err
		}
	}
	deal := rng.Uint64() // the same order of clients in all rounds
	columns := &learning{scaling: scale, rows: train, order: order(deal).Perm(len(train.y)), dim: t.dim, magnitude: prepared.magnitude}
	now := &stages{columns}
	rounds, err := o.open(ctx, run, now, prepared.rounds, rng, std.Err)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rounds.Close()) }()
	if prepared.rounds > 0 {
		if err := columns.learn(ctx, rounds, prepared.rounds); err != nil {
			return cmp.Or(ctx.Err(), err) // whatever was under way when it was interrupted
		}
	}
	gradients, err := t.gradients(expand.of(scale.of(train)), order(deal))
	if err != nil {
		return err
	}
	now.Gradients = gradients
	test = expand.of(scale.of(test))
	done, err := training.Config{
		Run: run, Rounds: rounds, Held: prepared.rounds, First: make([]float64, t.dim), Measure: t.measure, Bytes: rounds.Bytes,
		Evaluate: func(params []float64) (score, loss float64, err error) { return t.evaluate(params, test) },
	}.Train(ctx, w)
	if done == nil {
		return err
	}
	return errors.Join(o.finish(context.WithoutCancel(ctx), t, scale, done, test.y, w), err)
}

// held are rounds somewhere.
type held interface {
	trainer.Rounds
	Bytes() int64
	Close() error
}

// open starts two servers where clients trust them, and otherwise a simulation in this process. No line is printed after the first silent rounds.
func (o options) open(ctx context.Context, run *plan.Run, gradients trainer.Gradients, silent int, rng *rand.Rand, log io.Writer) (held, error) {
	if run.Trust == plan.TwoServers {
		return newFederation(ctx, run, gradients, silent, o.binary, log)
	}
	return trainer.NewSimulation(trainer.SimulationConfig{
		Gradients: gradients, Cohort: run.Cohort, Rand: rng,
		Describe: func(i int) fl.Round { return run.Round(fmt.Sprintf("tabular-%03d", i+1), fl.NewPublicSeed()) },
	})
}

// order draws the order of the clients.
func order(deal uint64) *rand.Rand { return rand.New(rand.NewPCG(4, deal)) }
