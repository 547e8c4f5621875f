package speed

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
	"github.com/hushgrad/hushgrad/fl"
)

// instructions is the experiment that counts what a processor does for a report. Unlike a time, the
// count hardly depends on the machine and on what else it does.
var instructions = experiment.Experiment{
	Name:    "instructions",
	Title:   "Instructions of a report on the server and on the client, counted by valgrind",
	Source:  "No paper counts instructions",
	Alone:   true,
	Without: []string{experiment.FlagData, experiment.FlagSeed, experiment.FlagRepeats, experiment.FlagQuick},
	Bind: func(f *flag.FlagSet) experiment.Run {
		s := setting{}
		f.StringVar(&s.base, "base", "", "`revision` of the checkout that is built and counted beside this one; empty: none")
		return s.count
	},
}

// counter is the program that counts.
const counter = "valgrind"

func (s *setting) count(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	root, err := checkout(ctx)
	if err != nil {
		return nil, err
	}
	if root == "" {
		return nil, fl.Invalid("directory", "no checkout", "must be within a checkout of the module")
	}
	if _, err := exec.LookPath(counter); err != nil {
		return nil, fl.Invalid("programs", "no "+counter, "must have it installed")
	}
	dir, err := os.MkdirTemp("", "hushgrad-instructions")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	sides, err := s.build(ctx, env, root, dir, "probe")
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"operation", "hash", "dim", "sparsity", "epsilon", "times", "instructions", "base", "ratio"},
		Notes: []string{
			"instructions is the difference of a run that does the operation twice as often as times says and a run that does it as often, over times. What is done once falls out.",
			"valgrind's processor has AVX2 and no AVX-512. The garbage collector is off.",
		},
	}
	works := counted()
	env.Progress.Describe("instructions")
	env.Progress.Grow(len(works))
	for _, w := range works {
		row := experiment.Row{w.Kind, w.Hash, w.Dim, w.Sparsity, w.Epsilon, w.Times, nil, nil, nil}
		for i, side := range sides {
			n, err := side.instructions(ctx, w)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.Kind, err)
			}
			row[6+i] = n
		}
		if base, ok := row[7].(float64); ok {
			row[8] = row[6].(float64) / base
		}
		r.Rows = append(r.Rows, row)
		env.Progress.Step()
	}
	return r, nil
}

// counted are the works of rows with one report at a time. A server adds as many as it collects at most.
func counted() (out []probe.Work) {
	for _, r := range rows(false) {
		w := r.Work
		switch {
		case w.Kind == probe.Decode && w.Reports > 0:
			w.Times = 1 << 15
		case w.Kind == probe.Encode || w.Kind == probe.Ternary:
			w.Times = 1 << 8
		default:
			continue
		}
		out = append(out, w)
	}
	return out
}

// instructions returns the instructions of one operation of a work.
func (t *tree) instructions(ctx context.Context, w probe.Work) (float64, error) {
	once, err := t.collected(ctx, w)
	if err != nil {
		return 0, err
	}
	times := w.Times
	w.Times *= 2
	twice, err := t.collected(ctx, w)
	return (twice - once) / float64(times), err
}

// collectedLine is what callgrind says at the end.
var collectedLine = regexp.MustCompile(`(?m)^==\d+== Collected : (\d+)$`)

// collected returns the instructions of a process that does a work.
func (t *tree) collected(ctx context.Context, w probe.Work) (float64, error) {
	in, err := json.Marshal(w)
	if err != nil {
		return 0, err
	}
	var said strings.Builder
	cmd := command(ctx, t.programs, counter, "--tool=callgrind", "--callgrind-out-file="+os.DevNull, t.program("probe"))
	// valgrind cannot follow the signals by which the runtime stops a goroutine.
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMAXPROCS=1")
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), &said
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", counter, err, strings.TrimSpace(said.String()))
	}
	found := collectedLine.FindStringSubmatch(said.String())
	if found == nil {
		return 0, fl.Invalid(counter, said.String(), "must say what it collected")
	}
	return strconv.ParseFloat(found[1], 64)
}
