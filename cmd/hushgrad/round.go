package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/server/client"
)

// paramFlag collects --param name=value.
type paramFlag fl.Params

func (p paramFlag) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		all = append(all, fmt.Sprintf("%s=%v", name, p[name]))
	}
	return strings.Join(all, ",")
}

// IsListFlag says that it may be repeated.
func (p paramFlag) IsListFlag() bool { return true }

func (p paramFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("must be name=value")
	}
	if _, twice := p[name]; twice {
		return fmt.Errorf("%s must be given once", name)
	}
	if i, err := strconv.Atoi(value); err == nil {
		p[name] = fl.Int(i)
	} else if x, err := strconv.ParseFloat(value, 64); err == nil {
		p[name] = fl.Real(x)
	} else {
		p[name] = fl.Text(value)
	}
	return nil
}

// Type implements flag.Value.
func (p paramFlag) Type() string { return "param" }

// roundFlags are the flags of round.
type roundFlags struct {
	remote                       remote
	round                        fl.Round
	issuerKey, shuffler, columns string
	shareKey                     []byte
	lasts                        time.Duration
	output                       output
	described                    *flag.FlagSet // has the flags of bindDescription
}

func newRound() *cobra.Command {
	return newJob("round [flags]", "describe a round, or open it on a server", fmt.Sprintf(`Prints a complete round as JSON (message hushgrad.v1.Round), for encode, aggregate and
verify. Parameters that are left open are chosen from public quantities, and what no mechanism
can choose is asked for: how many coordinates or keys of a client a report takes in, for
example. With --server the round is opened there, for encode --server and aggregate --server.

  hushgrad round --dim 10 --param sparsity=2

Mechanisms: %s.`, strings.Join(fl.Mechanisms(), ", ")), &roundFlags{})
}

func (r *roundFlags) bind(f *flag.FlagSet) {
	f.StringVar(&r.round.ID, "id", "round", "name of the round")
	r.bindDescription(f)
	f.StringVar(&r.columns, "columns", "pairs", "comma-separated `list` of what is estimated beside the mean; \"\" is nothing, pairs stands for frequency and conditional where the mechanism estimates them")
	f.StringVar(&r.issuerKey, "issuer-key", "", "PEM `file` of hushgrad issue key: every report then needs a token under its first key, and with --shuffler one under its second key, too; empty: none does, and whoever reaches the server sends any number of reports")
	r.output.bindTo(f, jsonOutput)
	command.Topic(f, "The server", func(f *flag.FlagSet) {
		r.remote.bind(f, "open the round on its operator's listener")
		r.bindShuffler(f)
		f.DurationVar(&r.lasts, "deadline", 0, "with --server: time from now at which the round closes; 0: none")
	})
}

// bindDescription adds the flags that describe what clients send.
func (r *roundFlags) bindDescription(f *flag.FlagSet) {
	r.round.Params, r.round.Relation, r.round.PublicSeed = fl.Params{}, fl.ReplaceOne, fl.NewPublicSeed()
	r.round.Mechanism, r.described = coco.Name, f
	command.OneOf(f, &r.round.Mechanism, "mechanism", "", fl.Mechanisms(), "mechanism")
	f.IntVar(&r.round.Dim, "dim", 0, "number of coordinates or keys")
	f.Float64Var(&r.round.Scale, "scale", 1, "τ or clip norm, in units of the gradient; 1 for key-value rounds")
	f.Float64Var(&r.round.Epsilon, "epsilon", 1, "ε of one report")
	f.Float64Var(&r.round.Delta, "delta", 0, "δ of one report; 0 for local mechanisms")
	f.IntVar(&r.round.MinReports, "min-reports", 100, "reports below which nothing is released")
	f.IntVar(&r.round.TargetReports, "target-reports", 0, "reports at which a server closes the round; 0: open")
	f.Var(paramFlag(r.round.Params), "param", "`name=value` of a parameter of the mechanism; may be repeated")
}

// bindShuffler adds the flags of a round that a shuffler has a part in.
func (r *roundFlags) bindShuffler(f *flag.FlagSet) {
	f.StringVar(&r.shuffler, "shuffler", "", "with --server: `name` of the shuffler to which clients send their reports, sealed to the newest key of the server; empty: they send them to the server")
	f.BytesBase64Var(&r.shareKey, "share-key", nil, "with --shuffler: the shuffler's public `key` in base64, which hushgrad shuffle keys --output json prints there; clients seal the second share of a mechanism for two servers to it")
}

func (r *roundFlags) validate(*flag.FlagSet) error {
	if r.shuffler != "" && r.remote.server == "" {
		return fl.Invalid("--shuffler", r.shuffler, "needs --server, which has the key to which reports are sealed")
	}
	if len(r.shareKey) > 0 && r.shuffler == "" {
		return fl.Invalid("--share-key", fmt.Sprintf("%d bytes", len(r.shareKey)), "needs --shuffler, whose key it is")
	}
	if r.lasts < 0 {
		return fl.Invalid("--deadline", r.lasts, "must be >= 0")
	}
	if r.lasts > 0 && r.remote.server == "" {
		return fl.Invalid("--deadline", r.lasts, "needs --server, which closes the round")
	}
	return r.remote.validate()
}

// run prints a complete round and, on request, opens it on a server.
func (r *roundFlags) run(ctx context.Context, std command.Streams) error {
	inner, outer, err := readIssuerKeys(r.issuerKey)
	if err != nil {
		return err
	}
	r.round.IssuerKey = inner
	r.round.Columns = columnsOf(r.round.Mechanism, r.columns)
	var m fl.Mechanism
	complete, err := command.Await(ctx, func() (complete fl.Round, err error) {
		complete, m, err = fl.Complete(r.round)
		return complete, err
	})
	err = r.asked(err)
	if err == nil && r.remote.server != "" {
		if complete.Shuffler = r.shuffler; r.shuffler != "" {
			complete.OuterIssuerKey, complete.ShareKey = outer, r.shareKey
		}
		if r.lasts > 0 {
			complete.Deadline = time.Now().Add(r.lasts)
		}
		complete, err = r.remote.open(ctx, complete)
	}
	if err != nil {
		return err
	}
	if r.output == jsonOutput {
		return writeRound(std.Out, complete)
	}
	return describeRound(std.Out, complete, m)
}

// asked returns an error about a description as an error about the flag that sets it. It says what to type where a mechanism
// lacks a parameter.
func (r *roundFlags) asked(err error) error {
	p, ok := errors.AsType[*fl.ParamError](err)
	if !ok {
		return err
	}
	if _, given := r.round.Params[p.Param]; given {
		return &fl.ParamError{Param: "--param " + p.Param, Got: p.Got, Rule: p.Rule}
	}
	if p.Got != `"nothing"` {
		return command.OfFlag(r.described, err, map[string]string{"params": "param"})
	}
	return fl.Invalid("--param", "", "must have %s, which --mechanism %s does not choose: type --param %[1]s=VALUE; %[3]s", p.Param, r.round.Mechanism, p.Rule)
}

// describeRound writes a round of mechanism m for people.
func describeRound(w io.Writer, r fl.Round, m fl.Mechanism) error {
	var params []string
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		params = append(params, fmt.Sprintf("%s = %v", name, r.Params[name]))
	}
	closes := "by the operator"
	if r.TargetReports > 0 {
		closes += fmt.Sprintf(", or at %d reports", r.TargetReports)
	}
	if !r.Deadline.IsZero() {
		closes += ", or at " + r.Deadline.Local().Format(time.RFC1123)
	}
	_, err := fmt.Fprintf(w, "round       %s\nmechanism   %s\nestimates   %s of %d coordinates or keys\nreport      %s\nreleased    from %d reports on\ncloses      %s\n",
		r.ID, strings.Join(append([]string{r.Mechanism}, params...), ", "), strings.Join(append([]string{fl.ColumnMean}, r.Columns...), ", "), r.Dim, m.Guarantee(), r.MinReports, closes)
	if liars, found := strings.CutPrefix(plan.Sway(r, m, 0.01), "liars: "); found && err == nil {
		_, err = fmt.Fprintf(w, "liars       %s\n", liars)
	}
	return err
}

// writeRound writes a round as JSON.
func writeRound(w io.Writer, r fl.Round) error {
	text, err := protojson.MarshalOptions{Multiline: true, UseProtoNames: true}.Marshal(r.Proto())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// columnsOf reads the flag --columns.
func columnsOf(mechanism, text string) (columns []string) {
	if text != "pairs" {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" && name != fl.ColumnMean {
				columns = append(columns, name)
			}
		}
		return columns
	}
	return slices.DeleteFunc([]string{fl.ColumnFrequency, fl.ColumnConditional}, func(name string) bool {
		return !slices.Contains(fl.Columns(mechanism), name)
	})
}

// open opens a round on the server and returns it as clients will see it.
func (r *remote) open(ctx context.Context, description fl.Round) (fl.Round, error) {
	conn, err := r.dial()
	if err != nil {
		return fl.Round{}, err
	}
	defer conn.Close()
	return client.NewOperator(conn).OpenRound(ctx, description)
}

// openRound reads a complete round and builds its mechanism.
func openRound(ctx context.Context, file string, stdin io.Reader) (fl.Round, fl.Mechanism, error) {
	if file == "" {
		return fl.Round{}, nil, fl.Invalid("--round", "", "is required: a file of hushgrad round")
	}
	r, err := readRound(file, stdin)
	if err != nil {
		return fl.Round{}, nil, err
	}
	m, err := command.Await(ctx, func() (fl.Mechanism, error) { return fl.Open(r) })
	return r, m, err
}
