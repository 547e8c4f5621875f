package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

func main() {
	cfg, err := parseFlags(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
	if err := run(context.Background(), cfg, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

type config struct {
	task
	each time.Duration // about the length of one repetition
	out  string        // directory for the results, or empty
}

func parseFlags(args []string, stderr io.Writer) (config, error) {
	var cfg config
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&cfg.Dim, "dim", 7850, "coordinates of a vector")
	f.IntVar(&cfg.Sparsity, "sparsity", 64, "non-zero coordinates of a vector")
	f.Float64Var(&cfg.Epsilon, "epsilon", 5, "privacy budget of one CoCo report")
	f.DurationVar(&cfg.each, "time", time.Second, "length of one of the 5 repetitions of one measurement")
	f.StringVar(&cfg.out, "out", "", "write the results to this `directory`, too, as go run ./bench does")
	if err := command.ParseOnly(f, args); err != nil {
		return config{}, err
	}
	if cfg.Dim < 1 {
		return config{}, fl.Invalid("--dim", cfg.Dim, "must be ≥ 1")
	}
	if cfg.each <= 0 {
		return config{}, fl.Invalid("--time", cfg.each, "must be > 0")
	}
	return cfg, nil
}

// command is the line that repeats the run. The directory of the results is left out.
func (c config) command() string {
	return fmt.Sprintf("cd bench/peers && go run . --dim %d --sparsity %d --epsilon %g --time %s", c.Dim, c.Sparsity, c.Epsilon, c.each)
}

func run(ctx context.Context, cfg config, stdout io.Writer) error {
	runtime.GOMAXPROCS(1)
	// Fixed seeds: the costs do not depend on them, and runs are comparable.
	all, err := contenders(cfg.task, rand.NewChaCha8([32]byte{1}))
	if err != nil {
		return err
	}
	xs := vectors(cfg.task, clients, rand.New(rand.NewChaCha8([32]byte{2})))
	rows, err := measure(all, xs, cfg.each)
	if err != nil {
		return err
	}
	r := newResult(ctx, cfg, rows)
	if err := r.writeTable(stdout); err != nil || cfg.out == "" {
		return err
	}
	return experiment.Write(ctx, cfg.out, "peers", r.Origin, r.found())
}
