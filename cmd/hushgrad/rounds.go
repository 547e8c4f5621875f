package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
)

const roundsUsage = `Usage: hushgrad rounds ACTION [flags]

  list     the rounds of a server, oldest first
  watch    the same, again and again until it is interrupted
  abort    end rounds without an estimate and drop their reports
  export   write the description and the estimate of a closed round into a directory

hushgrad rounds ACTION -help lists the flags of an action.
`

// roundsActions are the sub-commands of rounds.
var roundsActions = []struct {
	name string
	act  command.Func
}{
	{"list", roundsList},
	{"watch", roundsWatch},
	{"abort", roundsAbort},
	{"export", roundsExport},
}

// rounds shows an operator the rounds of a server.
func rounds(ctx context.Context, args []string, std command.Streams) error {
	if len(args) == 0 {
		fmt.Fprint(std.Out, roundsUsage)
		return fl.Invalid("action", "", "is required")
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(std.Out, roundsUsage)
		return nil
	}
	var names []string
	for _, a := range roundsActions {
		if a.name == args[0] {
			return a.act(ctx, args[1:], std)
		}
		names = append(names, a.name)
	}
	return fl.Invalid("action", args[0], "must be one of %s", strings.Join(names, ", "))
}

// newAction returns the flags of an action, with those of the connection.
func newAction(name, arguments, what string, stderr io.Writer) (*flag.FlagSet, *remote) {
	f := newFlags("rounds "+name, fmt.Sprintf("Usage: hushgrad rounds %s [flags]%s\n\n%s\n\n", name, arguments, what), stderr)
	to := &remote{server: "127.0.0.1:7118"}
	to.bind(f, "its operator's listener")
	return f, to
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

// writeTable writes rounds for people.
func writeTable(w io.Writer, rounds []listed) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROUND\tSTATE\tREPORTS\tMINIMUM\tTARGET\tMECHANISM\tDIM\tLOCAL ε\tOPENED\tENDED")
	for _, l := range rounds {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%d\t%v\t%s\t%s\n", l.round.ID, l.state(), l.status.GetReports(), l.round.MinReports, l.target(),
			l.round.Mechanism, l.round.Dim, l.round.Epsilon, l.status.GetOpened().AsTime().Format(time.RFC3339), l.ended())
	}
	return table.Flush()
}

func roundsList(ctx context.Context, args []string, std command.Streams) error {
	f, to := newAction("list", "", "Lists the rounds that a server remembers, oldest first, with the exact numbers of reports.", std.Err)
	asJSON := f.Bool("json", false, "print JSON (messages hushgrad.v1.RoundStatus)")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	return to.onServer(func(o *client.Operator) error {
		rounds, err := list(ctx, o)
		if err != nil {
			return err
		}
		if !*asJSON {
			return writeTable(std.Out, rounds)
		}
		messages := make([]json.RawMessage, len(rounds))
		for i, l := range rounds {
			if messages[i], err = (protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}).Marshal(l.status); err != nil {
				return err
			}
		}
		return printJSON(std.Out, messages)
	})
}

func roundsAbort(ctx context.Context, args []string, std command.Streams) error {
	f, to := newAction("abort", " ROUND...", "Ends rounds without an estimate. Their reports are dropped, and clients cannot submit more.", std.Err)
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return fl.Invalid("arguments", 0, "at least one round is required")
	}
	return to.onServer(func(o *client.Operator) error {
		for _, id := range f.Args() {
			if err := o.AbortRound(ctx, id); err != nil {
				return fmt.Errorf("round %q: %w", id, err)
			}
			if _, err := fmt.Fprintf(std.Out, "aborted %s\n", id); err != nil {
				return err
			}
		}
		return nil
	})
}
