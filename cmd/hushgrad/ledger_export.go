package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

func newLedgerExport() *cobra.Command {
	format := "json"
	c := newCommand("export [flags] FILE", "the whole ledger as JSON or CSV", `Prints a ledger for other programs. JSON has budgets, sums and entries: docs/cli.md describes it.
CSV has a line for each entry.`, func(ctx context.Context, args []string, std command.Streams) error {
		out := command.Writer(ctx, std.Out)
		return withLedger(args[0], "", func(l *ledger.Ledger) error {
			if format == "json" {
				return l.Export(out)
			}
			x, err := l.Exported()
			if err != nil {
				return err
			}
			return writeCSV(out, x)
		})
	})
	c.Args = oneArgument("file")
	command.OneOf(c.Flags(), &format, "format", "", []string{"json", "csv"}, "json or csv")
	return c
}

// writeCSV writes a line for each entry.
func writeCSV(out io.Writer, x *ledger.Exported) error {
	w := csv.NewWriter(out)
	if err := w.Write([]string{
		"purpose", "id", "state", "round_id", "digest", "mechanism", "model", "epsilon", "delta", "relation",
		"central_model", "central_epsilon", "central_delta", "central_relation",
		"reserved_at", "spent_at", "released_at", "acknowledged_at", "receipt",
	}); err != nil {
		return err
	}
	for name, p := range purposes(x) {
		for _, e := range p.Entries {
			line := append([]string{name, strconv.FormatUint(e.ID, 10), e.State, e.RoundID, e.Digest, e.Mechanism}, cells(e.ExportedGuarantee)...)
			central := make([]string, 4)
			if e.Central != nil {
				central = cells(*e.Central)
			}
			line = append(line, central...)
			for _, t := range []time.Time{e.ReservedAt, e.SpentAt, e.ReleasedAt, e.AcknowledgedAt} {
				text := ""
				if !t.IsZero() {
					text = t.Format(time.RFC3339Nano)
				}
				line = append(line, text)
			}
			if err := w.Write(append(line, e.Receipt)); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}

func cells(g ledger.ExportedGuarantee) []string {
	float := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return []string{g.Model, float(float64(g.Epsilon)), float(g.Delta), g.Relation}
}

// verifiedLedger is the answer of ledger verify.
type verifiedLedger struct {
	Sound    bool                             `json:"sound"`
	Entries  int                              `json:"entries"`
	Spent    map[string]ledger.ExportedBudget `json:"spent"`
	Compared string                           `json:"compared_with,omitempty"`
}

func newLedgerVerify() *cobra.Command {
	var form output
	var counter, export string
	c := newCommand("verify [flags] FILE", "check that a ledger is whole and has forgotten nothing", `Checks every record of a ledger: its checksum, the numbers of the entries, both headers and the
structure of the file. It adds up again what was spent. With --counter it refuses a ledger that
is behind its counter. With --export it refuses one that has forgotten or changed what an
earlier hushgrad ledger export had. Without the two an older copy of a ledger is a sound ledger.`,
		func(ctx context.Context, args []string, std command.Streams) error {
			if counter != "" {
				if _, err := os.Stat(counter); err != nil {
					return fl.Invalid("--counter", counter, "must be a file of the ledger's counter: %v", err)
				}
			}
			return withLedger(args[0], counter, func(l *ledger.Ledger) error {
				x, err := l.Exported()
				if err != nil {
					return err
				}
				if export != "" {
					if err := compareExport(x, export); err != nil {
						return err
					}
				}
				answer := verifiedLedger{Sound: true, Spent: map[string]ledger.ExportedBudget{}, Compared: export}
				for name, p := range x.Purposes {
					answer.Entries += len(p.Entries)
					answer.Spent[name] = p.Spent
				}
				return form.print(command.Writer(ctx, std.Out), answer, func(w io.Writer) error {
					fmt.Fprintf(w, "sound     %d entries, each with its checksum\n", answer.Entries)
					for name, p := range purposes(x) {
						if _, err := fmt.Fprintf(w, "spent     ε = %s of %s for %s\n", above(p.Spent.Epsilon), above(p.Budget.Epsilon), name); err != nil {
							return err
						}
					}
					return nil
				})
			})
		})
	c.Args = oneArgument("file")
	c.Flags().StringVar(&counter, "counter", "", "`file` of the counter that the ledger has in another place")
	c.Flags().StringVar(&export, "export", "", "JSON `file` of an earlier hushgrad ledger export")
	form.bind(c.Flags())
	return c
}

// compareExport returns an error unless a ledger has all that an earlier export of it has.
func compareExport(x *ledger.Exported, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return fl.Invalid("--export", file, "must be readable: %v", err)
	}
	defer in.Close()
	earlier, err := ledger.ReadExported(in)
	if err != nil {
		return fl.Invalid("--export", file, "must be an exported ledger: %v", err)
	}
	for name, before := range purposes(earlier) {
		now := map[uint64]ledger.ExportedEntry{}
		for _, e := range x.Purposes[name].Entries {
			now[e.ID] = e
		}
		for _, e := range before.Entries {
			kept, ok := now[e.ID]
			if !ok {
				return fmt.Errorf("%w: entry %d of purpose %q is in %s and not in the ledger", ledger.ErrReplaced, e.ID, name, file)
			}
			if !follows(e, kept) {
				return fmt.Errorf("%w: entry %d of purpose %q is another one in %s", ledger.ErrReplaced, e.ID, name, file)
			}
		}
	}
	return nil
}

// later are the states that an entry of a state can be in at a later time.
var later = map[string][]string{
	ledger.Reserved.String():     {ledger.Reserved.String(), ledger.Spent.String(), ledger.Acknowledged.String(), ledger.Released.String()},
	ledger.Spent.String():        {ledger.Spent.String(), ledger.Acknowledged.String()},
	ledger.Acknowledged.String(): {ledger.Acknowledged.String()},
	ledger.Released.String():     {ledger.Released.String()},
}

// follows says whether an entry can have become the one that is there now: of the same report, with the same
// promises, and in a later state or the same.
func follows(before, now ledger.ExportedEntry) bool {
	switch {
	case before.Digest != now.Digest || before.ExportedGuarantee != now.ExportedGuarantee || !before.ReservedAt.Equal(now.ReservedAt):
		return false
	case (before.Central == nil) != (now.Central == nil) || before.Central != nil && *before.Central != *now.Central:
		return false
	}
	return slices.Contains(later[before.State], now.State)
}
