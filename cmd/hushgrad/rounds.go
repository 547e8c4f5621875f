package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
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
	if r.server == "" {
		return fl.Invalid("-server", "", "is required")
	}
	if err := r.validate(); err != nil {
		return err
	}
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	return use(client.NewOperator(conn))
}

// listed is a round as a server describes it.
type listed struct {
	round  fl.Round
	status *service.RoundStatus
}

// list asks for the rounds. Their descriptions are checked: what a server sends goes to a
// terminal.
func list(ctx context.Context, o *client.Operator) ([]listed, error) {
	statuses, err := o.Rounds(ctx)
	if err != nil {
		return nil, err
	}
	rounds := make([]listed, len(statuses))
	for i, s := range statuses {
		r, err := fl.RoundFromProto(s.GetRound())
		if err != nil {
			return nil, fmt.Errorf("round %d of the server: %w", i, err)
		}
		rounds[i] = listed{r, s}
	}
	return rounds, nil
}

func (l listed) state() string {
	if l.status.GetClosing() {
		return "closing" // waits for the shuffler
	}
	return strings.ToLower(strings.TrimPrefix(l.status.GetState().String(), "ROUND_STATE_"))
}

func (l listed) ended() string {
	if l.status.Ended == nil {
		return "-"
	}
	return l.status.GetEnded().AsTime().Format(time.RFC3339)
}

func (l listed) target() string {
	if l.round.TargetReports == 0 {
		return "-"
	}
	return strconv.Itoa(l.round.TargetReports)
}

// localEpsilon is the ε of one report against everybody, and "-" where the report has none: alone
// or with all others of its client it then shows the gradient.
func (l listed) localEpsilon() string {
	m, err := fl.Open(l.round)
	if err != nil || m.Guarantee().Trust != fl.Local {
		return "-"
	}
	return fmt.Sprint(l.round.Epsilon)
}

// writeTable writes rounds for people.
func writeTable(w io.Writer, rounds []listed) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROUND\tSTATE\tREPORTS\tMINIMUM\tTARGET\tMECHANISM\tDIM\tLOCAL ε\tOPENED\tENDED")
	for _, l := range rounds {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%d\t%v\t%s\t%s\n", l.round.ID, l.state(), l.status.GetReports(), l.round.MinReports, l.target(),
			l.round.Mechanism, l.round.Dim, l.localEpsilon(), l.status.GetOpened().AsTime().Format(time.RFC3339), l.ended())
	}
	return table.Flush()
}

func newRoundsList() *cobra.Command {
	var to *remote
	var form output
	c := newCommand("list [flags]", "the rounds of a server, oldest first", "Lists the rounds that a server remembers, oldest first, with the exact numbers of reports.",
		func(ctx context.Context, _ []string, std command.Streams) error {
			return to.onServer(func(o *client.Operator) error {
				rounds, err := list(ctx, o)
				if err != nil {
					return err
				}
				messages, err := messagesOf(rounds)
				if err != nil {
					return err
				}
				return form.print(std.Out, messages, func(w io.Writer) error { return writeTable(w, rounds) })
			})
		})
	to = bindServer(c.Flags())
	form.bind(c.Flags())
	return c
}

// messagesOf returns rounds for programs: messages hushgrad.v1.RoundStatus.
func messagesOf(rounds []listed) (messages []json.RawMessage, err error) {
	messages = make([]json.RawMessage, len(rounds))
	for i, l := range rounds {
		if messages[i], err = protoJSON(l.status); err != nil {
			return nil, err
		}
	}
	return messages, nil
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
