package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/wrap"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// newLedger returns the command about records of what reports have cost.
func newLedger() *cobra.Command {
	return newParent("ledger ACTION", "show, explain, export and verify a record of spent privacy", "action",
		newLedgerShow(), newLedgerExplain(), newLedgerExport(), newLedgerVerify())
}

// openLedger opens a ledger. Its errors name the argument that is wrong: name for the file, or --counter.
// instead is what else helps where one of the two is missing.
func openLedger(name, file, instead string, opts ledger.Options) (*ledger.Ledger, error) {
	l, err := ledger.Open(file, opts)
	var p *fl.ParamError
	switch counter := errors.As(err, &p) && p.Param == "Counter"; {
	case counter && errors.Is(err, fs.ErrNotExist):
		return nil, fl.Invalid("--counter", opts.Counter, "must be the counter of %s%s: %v", file, instead, fs.ErrNotExist)
	case counter && errors.Is(err, ledger.ErrReplaced):
		return nil, fmt.Errorf("%w: %w", ledger.ErrReplaced, fl.Invalid("--counter", opts.Counter, "%s", p.Rule))
	case counter:
		return nil, fl.Invalid("--counter", opts.Counter, "%s", p.Rule)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fl.Invalid(name, file, "must be a ledger%s: %v", instead, err)
	case errors.Is(err, ledger.ErrNotLedger):
		return nil, fl.Invalid(name, file, "must be a ledger: %v", err)
	}
	return l, err
}

// withLedger calls use with the ledger in a file, which must be there. Opening it checks
// every record.
func withLedger(file, counter string, use func(*ledger.Ledger) error) (err error) {
	l, err := openLedger("FILE", file, "", ledger.Options{MustExist: true, Counter: counter})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return use(l)
}

// onExported calls use with what a ledger records.
func onExported(file string, use func(*ledger.Exported) error) error {
	return withLedger(file, "", func(l *ledger.Ledger) error {
		x, err := l.Exported()
		if err != nil {
			return err
		}
		return use(x)
	})
}

// purposes are the purposes of a ledger in the order of their names.
func purposes(x *ledger.Exported) iter.Seq2[string, ledger.ExportedPurpose] {
	return func(yield func(string, ledger.ExportedPurpose) bool) {
		for _, name := range slices.Sorted(maps.Keys(x.Purposes)) {
			if !yield(name, x.Purposes[name]) {
				return
			}
		}
	}
}

func newLedgerShow() *cobra.Command {
	var form output
	c := newCommand("show [flags] FILE", "what was spent, by round and in all", `Shows a ledger of hushgrad encode --ledger, or of a client in Go or Python: for each purpose its
budget, what all reports of a client cost together and against whom, and the entries by round.`, func(ctx context.Context, args []string, std command.Streams) error {
		return onExported(args[0], func(x *ledger.Exported) error {
			return form.print(command.Writer(ctx, std.Out), x, func(w io.Writer) error { return showLedger(w, x) })
		})
	})
	c.Args = oneArgument("file")
	form.bind(c.Flags())
	return c
}

// Against whom the two budgets of a purpose hold.
const (
	againstAll     = "against everybody, also against anyone who can link all reports of the client"
	againstCentral = "against a party that sees only whole rounds, if the shuffler does not work with it"
)

// againstWhom says against whom what is spent of a purpose's budget bounds the loss. Entries in the
// shuffle model and in the model of two servers bound nothing against everybody.
func againstWhom(p ledger.ExportedPurpose) string {
	if sees := seesAtMost(p); sees != "" {
		return "only against a party that " + sees + ": there is no bound against everybody"
	}
	return againstAll
}

// showLedger writes a ledger for people.
func showLedger(w io.Writer, x *ledger.Exported) error {
	if len(x.Purposes) == 0 {
		_, err := fmt.Fprintln(w, "nothing is recorded")
		return err
	}
	for name, p := range purposes(x) {
		fmt.Fprintf(w, "purpose   %s\n", name)
		showBudget(w, p.Budget.ExportedBound, p.Spent.ExportedBound, againstWhom(p))
		if p.Budget.Central != nil && p.Spent.Central != nil {
			showBudget(w, *p.Budget.Central, *p.Spent.Central, againstCentral)
		}
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ENTRY\tROUND\tMECHANISM\tTRUST\tε\tδ\tCENTRAL ε\tSTATE\tRESERVED")
		for _, e := range p.Entries {
			central := "-"
			if e.Central != nil {
				central = above(e.Central.Epsilon)
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, e.RoundID, e.Mechanism, e.Model,
				above(e.Epsilon), fl.FormatUp(e.Delta, 3), central, e.State, e.ReservedAt.Format(time.RFC3339))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// showBudget writes a budget and what is spent of it.
func showBudget(w io.Writer, budget, spent ledger.ExportedBound, against string) {
	fmt.Fprintf(w, "budget    ε = %s, δ = %s, %s\n", above(budget.Epsilon), fl.FormatUp(budget.Delta, 3), budget.Relation+inLife(budget.Once))
	fmt.Fprintf(w, "spent     ε = %s by all that counts, composed\n%s", above(spent.Epsilon), wrap.Text(against, "          "))
}

// inLife is what a budget that allows one report adds to its numbers.
func inLife(once bool) string {
	if once {
		return ", one report in a client's life"
	}
	return ""
}

// above prints an ε rounded up.
func above(e ledger.Epsilon) string {
	if math.IsInf(float64(e), 1) {
		return "∞"
	}
	return fl.FormatUp(float64(e), digits)
}
