package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/bound"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// newLedger returns the command about records of what reports have cost.
func newLedger() *cobra.Command {
	return newParent("ledger ACTION", "show, explain, export and verify a record of spent privacy", "action",
		newLedgerShow(), newLedgerExplain(), newLedgerExport(), newLedgerVerify())
}

// record is a ledger in its exported form, see package ledger.
type record struct {
	Version  int                      `json:"version"`
	Purposes map[string]purposeRecord `json:"purposes"`
}

// purposeRecord is what is recorded for one body of data.
type purposeRecord struct {
	Budget  budgetRecord  `json:"budget"`
	Spent   budgetRecord  `json:"spent"`
	Entries []entryRecord `json:"entries"`
}

// guaranteeRecord is an ε with its δ, and what it protects.
type guaranteeRecord struct {
	Model    string        `json:"model,omitempty"`
	Epsilon  recordedFloat `json:"epsilon"`
	Delta    float64       `json:"delta"`
	Relation string        `json:"relation"`
}

type budgetRecord struct {
	guaranteeRecord
	Central *guaranteeRecord `json:"central,omitempty"`
}

type entryRecord struct {
	ID        uint64 `json:"id"`
	State     string `json:"state"`
	RoundID   string `json:"round_id"`
	Digest    string `json:"digest"`
	Mechanism string `json:"mechanism"`
	guaranteeRecord
	Central        *guaranteeRecord `json:"central,omitempty"`
	ReservedAt     time.Time        `json:"reserved_at,omitzero"`
	SpentAt        time.Time        `json:"spent_at,omitzero"`
	ReleasedAt     time.Time        `json:"released_at,omitzero"`
	AcknowledgedAt time.Time        `json:"acknowledged_at,omitzero"`
	Receipt        string           `json:"receipt,omitempty"`
}

// counts says whether an entry counts in the budget.
func (e entryRecord) counts() bool { return e.State != ledger.Released.String() }

// recordedFloat is a number of the exported form, in which an infinite one is the string "inf".
type recordedFloat float64

// infinite is how the exported form has an infinite number.
var infinite = []byte(`"inf"`)

func (x *recordedFloat) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, infinite) {
		*x = recordedFloat(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(x))
}

func (x recordedFloat) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(x), 1) {
		return infinite, nil
	}
	return json.Marshal(float64(x))
}

// readLedger returns all that an open ledger records, with the sums.
func readLedger(l *ledger.Ledger) (*record, error) {
	var text bytes.Buffer
	if err := l.Export(&text); err != nil {
		return nil, err
	}
	return parseRecord(&text)
}

// parseRecord reads an exported ledger.
func parseRecord(in io.Reader) (*record, error) {
	r := &record{}
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, err
	}
	return r, nil
}

// withLedger calls use with the ledger in a file, which must be there. Opening it checks
// every record.
func withLedger(file, counter string, use func(*ledger.Ledger) error) (err error) {
	l, err := ledger.Open(file, ledger.Options{MustExist: true, Counter: counter})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ledger.ErrNotLedger) {
		return fl.Invalid("FILE", file, "must be a ledger: %v", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return use(l)
}

// onRecord calls use with what a ledger records.
func onRecord(file string, use func(*record) error) error {
	return withLedger(file, "", func(l *ledger.Ledger) error {
		r, err := readLedger(l)
		if err != nil {
			return err
		}
		return use(r)
	})
}

// each calls visit for the purposes in the order of their names.
func (r *record) each(visit func(name string, p purposeRecord) error) error {
	for _, name := range slices.Sorted(maps.Keys(r.Purposes)) {
		if err := visit(name, r.Purposes[name]); err != nil {
			return err
		}
	}
	return nil
}

func newLedgerShow() *cobra.Command {
	var form output
	c := newCommand("show [flags] FILE", "what was spent, by round and in all", `Shows a ledger of hushgrad encode -ledger, or of a client in Go or Python: for each purpose its
budget, what all reports of a client cost together and against whom, and the entries by round.`, func(ctx context.Context, args []string, std command.Streams) error {
		return onRecord(args[0], func(r *record) error {
			return form.print(command.Writer(ctx, std.Out), r, r.show)
		})
	})
	c.Args = oneArgument("file")
	form.bind(c.Flags())
	return c
}

// Against whom the two budgets of a purpose hold.
const (
	againstAll     = "against everybody, also against a party that links all reports of the client"
	againstCentral = "against a party that sees only whole rounds, if the shuffler does not work with it"
)

// show writes a record for people.
func (r *record) show(w io.Writer) error {
	if len(r.Purposes) == 0 {
		_, err := fmt.Fprintln(w, "nothing is recorded")
		return err
	}
	return r.each(func(name string, p purposeRecord) error {
		fmt.Fprintf(w, "purpose   %s\n", name)
		p.Budget.show(w, p.Spent.guaranteeRecord, againstAll)
		if p.Budget.Central != nil && p.Spent.Central != nil {
			budgetRecord{guaranteeRecord: *p.Budget.Central}.show(w, *p.Spent.Central, againstCentral)
		}
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ENTRY\tROUND\tMECHANISM\tTRUST\tε\tδ\tCENTRAL ε\tSTATE\tRESERVED")
		for _, e := range p.Entries {
			central := "-"
			if e.Central != nil {
				central = e.Central.Epsilon.above()
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, e.RoundID, e.Mechanism, e.Model,
				e.Epsilon.above(), bound.Above(e.Delta, 3), central, e.State, e.ReservedAt.Format(time.RFC3339))
		}
		return table.Flush()
	})
}

// show writes a budget and what is spent of it.
func (b budgetRecord) show(w io.Writer, spent guaranteeRecord, against string) {
	fmt.Fprintf(w, "budget    ε = %s, δ = %s, %s\n", b.Epsilon.above(), bound.Above(b.Delta, 3), b.Relation)
	fmt.Fprintf(w, "spent     ε = %s by all that counts, composed\n          %s\n", spent.Epsilon.above(), against)
}

// above prints a number rounded up.
func (x recordedFloat) above() string {
	if math.IsInf(float64(x), 1) {
		return "∞"
	}
	return bound.Above(float64(x), digits)
}
