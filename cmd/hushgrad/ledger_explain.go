package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/wrap"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// explained is what ledger explain says of one subject.
type explained struct {
	Subject     string   `json:"subject"`
	Promises    []string `json:"promises"`
	DoesNotHold []string `json:"does_not_promise"`
}

func newLedgerExplain() *cobra.Command {
	var form output
	var entry uint64
	var f *flag.FlagSet
	c := newCommand("explain [flags] FILE", "in words what the entries promise, and what they do not", `Says in words what all reports of a client promise together, for each purpose of a ledger, and
what they do not promise. With --entry it is about one report.`, func(ctx context.Context, args []string, std command.Streams) error {
		return onExported(args[0], func(x *ledger.Exported) error {
			all := explainLedger(x)
			if command.Given(f, "entry") {
				one, err := explainEntry(x, entry)
				if err != nil {
					return err
				}
				all = []explained{one}
			}
			return form.print(command.Writer(ctx, std.Out), all, func(w io.Writer) error { return writeExplained(w, all) })
		})
	})
	f = c.Flags()
	c.Args = oneArgument("file")
	f.Uint64Var(&entry, "entry", 0, "`number` of an entry, see hushgrad ledger show")
	form.bind(f)
	return c
}

// factor says in words what an ε is, rounded against us.
func factor(what string, b ledger.ExportedBound) string {
	switch {
	case math.IsInf(float64(b.Epsilon), 1):
		return fmt.Sprintf("%s without privacy: it may show the data as they are.", what)
	case b.Epsilon == 0:
		return fmt.Sprintf("%s nothing about the data.", what)
	}
	change := "the client's data are exchanged for any others"
	if b.Relation == fl.ZeroOut.String() {
		change = "the client's data are left out"
	}
	text := fmt.Sprintf("%s at most this: whatever is seen becomes at most %s times as likely, or as unlikely, when %s (ε = %s).",
		what, fl.FormatUp(math.Exp(float64(b.Epsilon)), 3), change, above(b.Epsilon))
	if b.Delta > 0 {
		text += fmt.Sprintf(" The probability of what is seen may lie δ = %s beyond that.", fl.FormatUp(b.Delta, 3))
	}
	return text
}

// notPromised is what no entry promises, whatever it says.
var notPromised = []string{
	"That the client took part, and when, is not hidden.",
	"Conclusions about the client that follow from what holds for everybody are not prevented.",
	"Reports that were made without this ledger are not counted, nor is what became public otherwise.",
	"The guarantee is for one client. Several clients with the data of one person reveal more of it.",
	"Where a report is made of records it is for one record. Several records of one person reveal more of that person.",
}

// explainLedger says what the purposes of a ledger promise.
func explainLedger(x *ledger.Exported) []explained {
	all := []explained{}
	for name, p := range purposes(x) {
		count := 0
		for _, e := range p.Entries {
			if e.Counts() {
				count++
			}
		}
		reads := cmp.Or(seesAtMost(p), "links all reports of a client")
		e := explained{
			Subject:     fmt.Sprintf("purpose %s: %d entries count, %d released", name, count, len(p.Entries)-count),
			Promises:    []string{factor("A party that "+reads+" learns of a client", p.Spent.ExportedBound)},
			DoesNotHold: slices.Clone(notPromised),
		}
		if p.Spent.Central != nil {
			e.Promises = append(e.Promises, factor("A party that sees only whole rounds learns of a client", *p.Spent.Central))
			e.DoesNotHold = append(e.DoesNotHold, "The second promise does not hold against a party that works together with the shuffler, or with all but a few clients.")
		}
		switch local := seesAtMost(p) == ""; {
		case !local:
			e.DoesNotHold = append(e.DoesNotHold, "There is no promise against a party that reads the client's report or both of its shares.")
		case p.Spent.Central != nil:
			e.DoesNotHold = append(e.DoesNotHold, "The first promise holds against such a party.")
		}
		e.Promises = append(e.Promises,
			"Where one entry stands for a file of many clients, as an entry of hushgrad encode does, this holds for each of them by itself, also for one that was in every file.")
		e.DoesNotHold = append(e.DoesNotHold, "Data that serve several purposes are protected by all their budgets together, which is less.")
		all = append(all, e)
	}
	return all
}

// states say what the states of an entry mean.
var states = map[string]string{
	ledger.Reserved.String():     "The report may have been made, and has not left. It counts.",
	ledger.Spent.String():        "The report may have left. It counts.",
	ledger.Acknowledged.String(): "The server has confirmed the report. It counts.",
	ledger.Released.String():     "Nothing has left and nothing will. It does not count.",
}

// explainEntry says what one report promises.
func explainEntry(x *ledger.Exported, id uint64) (out explained, err error) {
	for name, p := range purposes(x) {
		for _, e := range p.Entries {
			if e.ID != id {
				continue
			}
			out = explained{
				Subject:     fmt.Sprintf("entry %d, round %s of %s, purpose %s. %s", id, e.RoundID, e.Mechanism, name, states[e.State]),
				Promises:    []string{factor("A party that "+seesOf[e.Model]+" learns of the client", e.ExportedBound)},
				DoesNotHold: append(slices.Clone(notPromised), "Other reports of the client add to it: see the whole purpose."),
			}
			if e.Central != nil {
				out.Promises = append(out.Promises, factor("A party that "+seesOf[e.Central.Model]+" learns of the client", e.Central.ExportedBound))
			}
			return out, nil
		}
	}
	return out, fl.Invalid("--entry", id, "must be an entry of the ledger, see hushgrad ledger show")
}

// seesAtMost says what a party sees against whom all that counts in a purpose promises something,
// and "" where that is everybody.
func seesAtMost(p ledger.ExportedPurpose) string {
	var all []string
	for _, trust := range []fl.Trust{fl.Shuffle, fl.TwoServers} {
		if slices.ContainsFunc(p.Entries, func(e ledger.ExportedEntry) bool { return e.Counts() && e.Model == trust.String() }) {
			all = append(all, strings.TrimSuffix(seesOf[trust.String()], ","))
		}
	}
	return strings.Join(all, ", and in other rounds ")
}

// seesOf says who a guarantee of a trust holds against.
var seesOf = map[string]string{
	fl.NoPrivacy.String():  "sees the report",
	fl.Local.String():      "sees the report, the server included,",
	fl.Shuffle.String():    "sees only the shuffled reports of the whole round, and does not work together with the shuffler,",
	fl.TwoServers.String(): "is one of two servers, or sees what they release, and does not work together with the other,",
}

// writeExplained writes it for people.
func writeExplained(w io.Writer, all []explained) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "nothing is recorded, and nothing is promised")
		return err
	}
	for _, e := range all {
		fmt.Fprint(w, wrap.Text(e.Subject, ""))
		for _, part := range []struct {
			title string
			lines []string
		}{{"What is promised", e.Promises}, {"What is not", e.DoesNotHold}} {
			fmt.Fprintf(w, "%s:\n", part.title)
			for _, line := range part.lines {
				if _, err := fmt.Fprint(w, wrap.Text(line, "  ")); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
