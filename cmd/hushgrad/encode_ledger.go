package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/client"
)

// ledgerFlags are the flags of encode for a record of what reports have cost.
type ledgerFlags struct {
	file, purpose string
	counter       string
	budget, delta float64
	once          bool
}

// ledgerFlagNames are the names of the flags, the file's first.
var ledgerFlagNames = []string{"ledger", "purpose", "budget", "budget-delta", "once", "counter"}

func (l *ledgerFlags) bind(f *flag.FlagSet) {
	f.StringVar(&l.file, "ledger", "", "`file` that records what the reports cost a client, before they leave, and refuses what its budget does not allow")
	f.StringVar(&l.purpose, "purpose", "pairs", "with --ledger: `name` of the data; each has a budget of its own")
	f.Float64Var(&l.budget, "budget", 0, "with --ledger: the most ε that all reports of a client cost together; recorded at the first use, and never changed")
	f.Float64Var(&l.delta, "budget-delta", 0, "with --budget: the δ of that ε")
	f.BoolVar(&l.once, "once", false, "with --budget: a client reports once in its life for the purpose, whatever is left of the budget")
	f.StringVar(&l.counter, "counter", "", "with --ledger: `file` in another folder that counts the ledger's steps, so that a restored copy of the ledger is refused; made at the first use of --budget")
}

func (l *ledgerFlags) validate(f *flag.FlagSet, seed uint64) error {
	switch {
	case l.file == "":
		return command.Unused(f, "without --ledger", ledgerFlagNames[1:]...)
	case seed != 0:
		return fl.Invalid("--seed", seed, "must not be given with --ledger: such reports promise nothing, and cost more than any budget")
	case command.Given(f, "budget") && (!(l.budget > 0) || math.IsInf(l.budget, 1)):
		return fl.Invalid("--budget", l.budget, "must be finite and > 0")
	case !command.Given(f, "budget"):
		return command.Unused(f, "without --budget", "budget-delta", "once")
	case !(l.delta >= 0 && l.delta < 1):
		return fl.Invalid("--budget-delta", l.delta, "must be in [0, 1)")
	}
	if err := command.Place("--ledger", l.file); err != nil || l.counter == "" {
		return err
	}
	return command.Place("--counter", l.counter)
}

// open opens the ledger, which then has a budget for the purpose.
func (l *ledgerFlags) open() (*ledger.Ledger, error) {
	instead := ""
	if l.budget == 0 {
		instead = ", or --budget must be given for a new one"
	}
	kept, err := openLedger("--ledger", l.file, instead, ledger.Options{MustExist: l.budget == 0, Counter: l.counter})
	if err != nil {
		return nil, err
	}
	if err := l.settle(kept); err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	return kept, nil
}

// settle sets the budget of a purpose that has none, and refuses another one than that which it has.
func (l *ledgerFlags) settle(kept *ledger.Ledger) error {
	x, err := kept.Exported()
	if err != nil {
		return err
	}
	p, known := x.Purposes[l.purpose]
	switch wanted := (ledger.Budget{Epsilon: l.budget, Delta: l.delta, Relation: fl.ReplaceOne, Once: l.once}); {
	case !known && l.budget == 0:
		return fl.Invalid("--budget", l.budget, "is required: %s has none for the purpose %q", l.file, l.purpose)
	case !known:
		return kept.SetBudget(l.purpose, wanted)
	case l.budget != 0 && (float64(p.Budget.Epsilon) != l.budget || p.Budget.Delta != l.delta || p.Budget.Once != l.once):
		return fl.Invalid("--budget", l.budget, "must be left out: %s has one of ε = %v, δ = %v%s for the purpose %q", l.file, float64(p.Budget.Epsilon), p.Budget.Delta, inLife(p.Budget.Once), l.purpose)
	}
	return nil
}

// charged makes reports by encode. A ledger has their cost before there is a report, and that
// they have left before charged returns them. Without --ledger it only makes them.
func (l *ledgerFlags) charged(ctx context.Context, r fl.Round, m fl.Mechanism, encode func() ([][]byte, error)) (reports [][]byte, err error) {
	if l.file == "" {
		return encode()
	}
	kept, err := l.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	entry, err := kept.Reserve(ctx, ledger.Charge{Purpose: l.purpose, Round: digest, RoundID: r.ID, Mechanism: r.Mechanism, Guarantee: m.Guarantee()})
	if err != nil {
		return nil, err
	}
	reports, err = encode()
	if err != nil {
		return nil, errors.Join(err, kept.Release(entry)) // nothing has left
	}
	return reports, kept.Spend(entry)
}

// oneReport returns the report of the only client of the file, or the one that an earlier run has
// made for the round and could not deliver.
func (e *encodeFlags) oneReport(ctx context.Context, part *client.Participation, std command.Streams) ([]byte, error) {
	if left := part.Unfinished(); left != nil {
		fmt.Fprintln(std.Err, "note: an earlier run has made the report of this round. It is sent again, and costs nothing more.")
		return left, nil
	}
	people, err := e.read(ctx, part.Round(), part.Mechanism(), std)
	if err != nil {
		return nil, err
	}
	if n := len(people.order); n != 1 {
		return nil, fl.Invalid("clients", n, "must be one with --server and --ledger: the ledger is then a single client's")
	}
	if err := part.FetchToken(ctx); err != nil {
		return nil, err
	}
	return part.EncodeKeyValues(nil, people.of(0, nil), nil)
}
