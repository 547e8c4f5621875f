package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/internal/reportfile"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

const verifyHelp = `Checks that the code in this binary keeps the guarantee that a round promises. With
--max-epsilon it answers a client's question instead: should I join this round? The answer
follows from the description alone, and needs no network. FILE is the round as protobuf
(message hushgrad.v1.Round) or as its JSON form; - is standard input. For example:

  {"id": "r", "mechanism": "coco", "dim": 3, "scale": 1, "epsilon": 1,
   "min_reports": 100, "params": {"sparsity": {"integer": 2}}}

Parameters that the round leaves open are chosen as a server would choose them. The exit
code is 0 when the promise holds or no violation was found, 1 when it is broken or the
check ended too early to find a violation, and 2 for a wrong call.

  hushgrad verify --max-epsilon 2 --min-reports 1000 round.json

The exit code of this question is 0 for a round that meets the policy and 1 for one that
does not. A policy takes what the round promises as it is: it does not check the code.
`

// errViolation is a broken promise. The report describes it.
var errViolation = errors.New("verify: the round's promise is broken")

// errUndecided is a check that its time limit ended too early.
var errUndecided = errors.New("verify: the check ended before it could have found a violation")

// verifyFlags are the flags of verify.
type verifyFlags struct {
	options verify.Options
	seed    uint64
	policy  policyFlags
	output  output
	file    string
	joining bool // a policy was given: the question is whether to join
}

func newVerify() *cobra.Command {
	c := newJob("verify [flags] FILE", "check that the code keeps a round's promise", verifyHelp, &verifyFlags{})
	c.Args = oneArgument("file, or -,")
	c.AddCommand(newConformance())
	return c
}

func (v *verifyFlags) bind(f *flag.FlagSet) {
	v.options.Method = verify.Auto
	command.OneOf(f, &v.options.Method, "method", "", []verify.Method{verify.Auto, verify.Exact, verify.Statistical}, "auto, exact or statistical; auto is exact where feasible")
	f.IntVar(&v.options.Seeds, "seeds", 0, "hash functions of the exact method; 0: 200")
	f.IntVar(&v.options.Samples, "samples", 0, "reports (shuffle model: rounds) per gradient of the statistical method; 0: 10000, or what is affordable")
	f.DurationVar(&v.options.Time, "time", 30*time.Second, "time after which the check ends and says what holds so far; 0: no limit")
	f.Float64Var(&v.options.Confidence, "confidence", 0, "probability that the statistical method does not accuse a correct mechanism; 0: 1 - 1e-6")
	f.Uint64Var(&v.seed, "seed", 0, "seed of all randomness; 0: drawn anew")
	v.output.bind(f)
	command.Topic(f, "A client's policy", v.policy.bind)
}

func (v *verifyFlags) validate(f *flag.FlagSet) error {
	v.file, v.joining = f.Arg(0), v.policy.asked(f)
	if v.joining {
		return cmp.Or(command.Unused(f, "with --max-epsilon and the other flags of a policy", "method", "seeds", "samples", "time", "confidence", "seed"), v.policy.validate(f))
	}
	if v.seed != 0 {
		v.options.Rand = rand.New(rand.NewPCG(v.seed, 0))
	}
	switch v.options.Method {
	case verify.Exact:
		return command.Unused(f, "with --method exact", "samples", "confidence")
	case verify.Statistical:
		return command.Unused(f, "with --method statistical", "seeds")
	}
	return nil
}

// run checks the round of a file and prints the report, or says whether to join the round.
func (v *verifyFlags) run(ctx context.Context, std command.Streams) error {
	if v.joining {
		return v.policy.answer(ctx, v.file, v.output, std)
	}
	round, err := readRound(v.file, std.In)
	if err != nil {
		return err
	}
	bar := progress.New(std.Err, "verify")
	v.options.Progress = bar
	report, err := verify.Round(ctx, round, v.options)
	bar.Close()
	if err != nil {
		return err
	}
	err = v.output.print(std.Out, report, report.Write)
	switch {
	case err != nil:
		return err
	case report.Undecided:
		return fmt.Errorf("%w, --time %s: a longer time decides, and so does a round with fewer coordinates or clients", errUndecided, v.options.Time)
	case !report.Holds:
		return errViolation
	}
	return nil
}

// readRound reads a round that may be incomplete, in either form.
func readRound(name string, stdin io.Reader) (fl.Round, error) {
	in, err := openInput("file", name, stdin)
	if err != nil {
		return fl.Round{}, err
	}
	defer in.Close()
	m, err := reportfile.ReadRound(name, in)
	if err != nil {
		return fl.Round{}, err
	}
	return fl.RoundFromPartialProto(m)
}
