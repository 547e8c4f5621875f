// Command training trains a model of your own under differential privacy: every client sends
// one small randomized report in each round in which it takes part. Start with go run .
//
// Change data.go and model.go, which are marked. The clients are simulated in this process, and
// nothing shuffles: hushgrad help serve is about servers.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

func main() {
	log.SetFlags(0)
	asked := bind(flag.CommandLine)
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, "Usage of %s:\n", filepath.Base(os.Args[0]))
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("arguments: got %q, rule: only flags are allowed", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := train(ctx, *asked, os.Stdout); ctx.Err() != nil {
		log.Fatal("interrupted")
	} else if err != nil {
		log.Fatal(err)
	}
}

// usualClients is the number of simulated clients unless --clients says another.
const usualClients = 20_000

// bind binds the flags to what is asked of a plan.
func bind(f *flag.FlagSet) *plan.Request {
	asked := &plan.Request{}
	f.StringVar((*string)(&asked.Trust), "trust", string(plan.Nobody), "whom the clients trust: nobody or shuffler")
	f.Float64Var(&asked.Budget, "budget", 0, "ε of everything that a client sends: the local ε with --trust nobody, the central ε with --trust shuffler; 0 means 4 with nobody and 1 with shuffler")
	f.IntVar(&asked.Clients, "clients", usualClients, "number of simulated clients")
	f.BoolVar(&asked.Force, "force", false, "train where the noise is above the signal, too")
	return asked
}

// delta is the δ at which the central ε is stated.
const delta = 1e-6

// train plans a run, trains, and returns the accuracy on examples that no client holds.
func train(ctx context.Context, asked plan.Request, out io.Writer) (accuracy float64, err error) {
	if asked.Clients < 1 || asked.Clients > fl.MaxReports {
		return 0, fmt.Errorf("--clients: got %d, rule: must be in [1, %d]", asked.Clients, fl.MaxReports)
	}
	rng := fl.NewRand()
	private, test := clientExamples(rng, asked.Clients), testExamples(rng)
	if err := errors.Join(check("clientExamples", private), check("testExamples", test), check("publicExamples", publicExamples())); err != nil {
		return 0, err
	}
	asked.Clients = len(private)
	run, err := decide(ctx, asked)
	if err != nil {
		return 0, err
	}
	if err := run.PrintStart(out, false); err != nil {
		return 0, err
	}
	rounds, err := trainer.NewSimulation(trainer.SimulationConfig{
		Gradients: newClients(private, rng), Cohort: run.Cohort, Rand: rng,
		Describe: func(i int) fl.Round { return run.Round(fmt.Sprintf("round-%d", i+1), fl.NewPublicSeed()) },
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rounds.Close()) }()
	_, err = trainer.Run(ctx, rounds, firstModel(), trainer.RunConfig{
		Rounds: run.Affordable, Steps: trainer.Momentum(run.LearningRate, run.Momentum, run.Averaging),
		After: func(p trainer.Progress) error {
			accuracy = share(p.Average, test)
			_, err := fmt.Fprintf(out, "round %2d  %5d reports  accuracy %.3f\n", p.Round+1, p.Estimate.Reports, accuracy)
			return err
		},
	})
	if err != nil {
		return 0, err
	}
	// What the run cost a client, and against whom that holds.
	if _, err := run.PrintEnd(ctx, out, run.Affordable); err != nil {
		return 0, err
	}
	needs := "The budget is the local ε: it holds as it is, whoever runs the server.\n"
	if asked.Trust == plan.Shuffler {
		needs = "Nothing here shuffles: the central ε does not hold against this program.\n"
	}
	_, err = fmt.Fprintln(out, "\n"+needs+"All clients are simulated: this is what real ones would be promised.")
	return accuracy, err
}

// decide chooses mechanism, rounds, ε of a report and learning rate from public numbers alone: the
// number of clients, whom they trust, the budget, and gradients of public examples.
func decide(ctx context.Context, asked plan.Request) (run *plan.Run, err error) {
	if asked.Trust != plan.Nobody && asked.Trust != plan.Shuffler {
		return nil, fmt.Errorf("--trust: got %q, rule: must be %s or %s: here are no two servers", asked.Trust, plan.Nobody, plan.Shuffler)
	}
	asked.Mechanism, asked.Dim, asked.Delta = "auto", dim, delta
	if asked.Public, err = sample(ctx, newClients(publicExamples(), rand.New(rand.NewPCG(1, 1))), firstModel()); err != nil {
		return nil, err
	}
	if run, err = asked.Run(ctx); errors.Is(err, plan.ErrNoise) {
		err = fmt.Errorf("%w. The plan rests on publicExamples in data.go: their answers may look random, or be unlike the clients' data. --trust can be %s or %s here", err, plan.Nobody, plan.Shuffler)
	}
	return run, err
}
