package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"
	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

// newRounds returns the command by which an operator sees the rounds of a server.
func newRounds() *cobra.Command {
	return newParent("rounds ACTION", "list, watch, abort and export the rounds of a server", "action",
		newRoundsList(), newRoundsWatch(), newRoundsAbort(), newRoundsExport())
}

// bindServer adds the flags of the connection to a server's operator.
func bindServer(f *flag.FlagSet) *remote {
	to := &remote{server: "127.0.0.1:7118"}
	to.bind(f, "its operator's listener")
	return to
}

// onServer calls use with an operator's connection.
func (r *remote) onServer(use func(*client.Operator) error) error {
	return r.connected("is required", func(conn *grpc.ClientConn) error { return use(client.NewOperator(conn)) })
}

func stateOf(s client.RoundStatus) string {
	if s.Closing {
		return "closing" // waits for the shuffler
	}
	return s.State.String()
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format(time.RFC3339)
}

func targetOf(r fl.Round) string {
	if r.TargetReports == 0 {
		return "-"
	}
	return strconv.Itoa(r.TargetReports)
}

// localEpsilon is the ε of one report against everybody, and "-" where the report has none: alone
// or with all others of its client it then shows the gradient.
func localEpsilon(r fl.Round) string {
	m, err := fl.Open(r)
	if err != nil || m.Guarantee().Trust != fl.Local {
		return "-"
	}
	return fmt.Sprint(r.Epsilon)
}

// writeTable writes rounds for people.
func writeTable(w io.Writer, rounds []client.RoundStatus) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROUND\tSTATE\tREPORTS\tMINIMUM\tTARGET\tMECHANISM\tDIM\tLOCAL ε\tOPENED\tENDED")
	for _, s := range rounds {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%d\t%v\t%s\t%s\n", s.Round.ID, stateOf(s), s.Reports, s.Round.MinReports, targetOf(s.Round),
			s.Round.Mechanism, s.Round.Dim, localEpsilon(s.Round), moment(s.Opened), moment(s.Ended))
	}
	return table.Flush()
}

func newRoundsList() *cobra.Command {
	var to *remote
	var form output
	c := newCommand("list [flags]", "the rounds of a server, oldest first", "Lists the rounds that a server remembers, oldest first, with the exact numbers of reports.",
		func(ctx context.Context, _ []string, std command.Streams) error {
			return to.onServer(func(o *client.Operator) error {
				rounds, err := o.Rounds(ctx)
				if err != nil {
					return err
				}
				return form.print(std.Out, rounds, func(w io.Writer) error { return writeTable(w, rounds) })
			})
		})
	to = bindServer(c.Flags())
	form.bind(c.Flags())
	return c
}

func newRoundsAbort() *cobra.Command {
	var to *remote
	var form output
	c := newCommand("abort [flags] ROUND...", "end rounds without an estimate and drop their reports",
		"Ends rounds without an estimate. Their reports are dropped, and clients cannot submit more.",
		func(ctx context.Context, ids []string, std command.Streams) error {
			return to.onServer(func(o *client.Operator) error {
				for _, id := range ids {
					if err := o.AbortRound(ctx, id); err != nil {
						return fmt.Errorf("round %q: %w", id, err)
					}
					if form == jsonOutput {
						continue
					}
					if _, err := fmt.Fprintf(std.Out, "aborted %s\n", id); err != nil {
						return err
					}
				}
				return form.print(std.Out, map[string][]string{"aborted": ids}, func(io.Writer) error { return nil })
			})
		})
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fl.Invalid("arguments", 0, "at least one round is required")
		}
		if slices.Contains(args, "") {
			return fl.Invalid("arguments", "", "must be rounds of the server, see hushgrad rounds list")
		}
		return nil
	}
	to = bindServer(c.Flags())
	form.bind(c.Flags())
	return c
}
