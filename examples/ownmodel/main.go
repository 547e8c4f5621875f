// Command ownmodel trains a model of its own under differential privacy: a small network, built with
// Gorgonia, that package trainer does not know. Use it as a beginning for yours. Start with
//
//	go run ./examples/ownmodel
//
// The model and the data are in model.go. The clients are simulated in this process, and nothing
// shuffles: examples/mnist has the servers. docs/own-model.md explains the program.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

func main() {
	log.SetFlags(0)
	clients := flag.Int("clients", 10_000, "number of simulated clients")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("arguments: got %q, rule: only flags are allowed", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := train(ctx, *clients, os.Stdout); ctx.Err() != nil {
		log.Fatal("interrupted")
	} else if err != nil {
		log.Fatal(err)
	}
}

// gradients computes the gradients of clients with one example each. It is a [trainer.Gradients].
type gradients struct {
	examples []example
	network  *network
}

func (g *gradients) Len() int { return len(g.examples) }
func (g *gradients) Dim() int { return dim }

// Each computes the gradients of the clients whose turns are first, …, last−1.
func (g *gradients) Each(ctx context.Context, params []float64, first, last int, visit func(turn int, grad []float64) error) error {
	grad := make([]float64, dim)
	for turn := first; turn < last; turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.network.gradient(grad, params, g.examples[turn%len(g.examples)]); err != nil {
			return err
		}
		if err := visit(turn, grad); err != nil {
			return err
		}
	}
	return nil
}

func (g *gradients) Close() error { return g.network.machine.Close() }

// train plans a run, trains and returns the accuracy on examples that no client holds.
func train(ctx context.Context, clients int, w io.Writer) (accuracy float64, err error) {
	rng := fl.NewRand()
	network, err := newNetwork()
	if err != nil {
		return 0, err
	}
	first := initial(rng)

	// Public examples that look like the clients' examples decide how to clip.
	public := &gradients{generate(rng, 1000), network}
	l1, l2, err := norms(ctx, public, first)
	if err != nil {
		return 0, err
	}
	run, err := plan.Request{
		Mechanism: "auto", Trust: plan.Shuffler, Dim: dim, Clients: clients, Rounds: 20, Budget: 1, Delta: 1e-6, L1: l1, L2: l2, LearningRate: 8,
	}.Run(ctx)
	if err != nil {
		return 0, err
	}
	if err := run.PrintStart(w, false); err != nil {
		return 0, err
	}

	private := &gradients{generate(rng, clients), network}
	rounds, err := trainer.NewSimulation(trainer.SimulationConfig{
		Gradients: private, Cohort: run.Cohort, Rand: rng,
		Describe: func(i int) fl.Round { return run.Round(fmt.Sprintf("own-%d", i+1), fl.NewPublicSeed()) },
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rounds.Close()) }()
	test := generate(rng, 2000)
	_, err = trainer.Run(ctx, rounds, first, trainer.RunConfig{
		Rounds: run.Affordable,
		Steps:  trainer.Momentum(run.LearningRate, run.Momentum, run.Averaging),
		After: func(p trainer.Progress) error {
			accuracy, err = right(network, p.Average, test)
			fmt.Fprintf(w, "round %2d  accuracy %.3f\n", p.Round+1, accuracy)
			return err
		},
	})
	if err != nil {
		return 0, err
	}
	if _, err := run.PrintEnd(ctx, w, run.Affordable); err != nil {
		return 0, err
	}
	return accuracy, plan.Words{Text: []string{"No shuffler runs here, and this example simulates all clients: it shows what they would be promised."}}.Print(w)
}

// norms returns the mean L1 and L2 norms of gradients.
func norms(ctx context.Context, g *gradients, params []float64) (l1, l2 float64, err error) {
	err = g.Each(ctx, params, 0, g.Len(), func(_ int, grad []float64) error {
		sum, squares := 0.0, 0.0
		for _, v := range grad {
			sum += math.Abs(v)
			squares += v * v
		}
		l1 += sum / float64(g.Len())
		l2 += math.Sqrt(squares) / float64(g.Len())
		return nil
	})
	return l1, l2, err
}

// right returns the share of examples whose class the network finds.
func right(n *network, params []float64, examples []example) (float64, error) {
	count := 0.0
	for _, e := range examples {
		chance, err := n.run(params, e)
		if err != nil {
			return 0, err
		}
		if (chance > 0.5) == (e.y == 1) {
			count++
		}
	}
	return count / float64(len(examples)), nil
}

var _ trainer.Gradients = (*gradients)(nil)
