//go:build !js

package abi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// ledgerOpenArgs are the arguments of ledger.
type ledgerOpenArgs struct {
	Path      string `json:"path"`
	Counter   string `json:"counter"`
	MustExist bool   `json:"must_exist"`
}

func openLedger(_ context.Context, s *Session, args ledgerOpenArgs, _ []byte) (any, []byte, error) {
	if args.Path == "" {
		return nil, nil, fl.Invalid("path", args.Path, "is required: the file of the ledger")
	}
	l, err := ledger.Open(args.Path, ledger.Options{Counter: args.Counter, MustExist: args.MustExist})
	if err != nil {
		return nil, nil, withPath(err, args)
	}
	handle, err := s.hold(l)
	if err != nil {
		_ = l.Close() // nothing was written
		return nil, nil, err
	}
	return struct {
		Ledger uint64 `json:"ledger"`
	}{handle}, nil, nil
}

// withPath adds to an error of a file what the file must be.
func withPath(err error, args ledgerOpenArgs) error {
	rule := ""
	var p *fl.ParamError
	switch {
	case errors.As(err, &p) && p.Param == "Counter" && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, fl.Invalid("counter", args.Counter,
			"must be the counter of the ledger, and is missing: put it back, or open the ledger once without must_exist to make one"))
	case errors.As(err, &p) && p.Param == "Counter" && errors.Is(err, ledger.ErrReplaced):
		return fmt.Errorf("%w: %w", ledger.ErrReplaced, fl.Invalid("counter", args.Counter, "%s", p.Rule))
	case errors.As(err, &p) && p.Param == "Counter":
		return fl.Invalid("counter", args.Counter, "%s", p.Rule)
	case errors.Is(err, fs.ErrNotExist) && args.MustExist:
		rule = "must be the file of a ledger that was made before"
	case errors.Is(err, fs.ErrNotExist):
		rule = "must be in a directory that is there"
	case errors.Is(err, ledger.ErrLocked):
		rule = "must be open in one place, in this process or in another"
	case errors.Is(err, ledger.ErrNotLedger), errors.Is(err, ledger.ErrDamaged):
		rule = "must be the file of a ledger, as it was written"
	default:
		return err
	}
	return fmt.Errorf("%w: %w", err, fl.Invalid("path", args.Path, "%s", rule))
}

// budget is a ledger.Budget in JSON.
type budget struct {
	Epsilon  number `json:"epsilon"`
	Delta    number `json:"delta"`
	Relation string `json:"relation"`
	Once     bool   `json:"once,omitempty"`
}

// budgetArgs are the arguments of budget.
type budgetArgs struct {
	Ledger  uint64 `json:"ledger"`
	Purpose string `json:"purpose"`
	Central bool   `json:"central"`
	budget
}

func setBudget(_ context.Context, _ *Session, l *ledger.Ledger, args budgetArgs, _ []byte) (any, []byte, error) {
	neighbours, err := relation(args.Relation)
	if err != nil {
		return nil, nil, err
	}
	limit := ledger.Budget{Epsilon: float64(args.Epsilon), Delta: float64(args.Delta), Relation: neighbours, Once: args.Once}
	if args.Central {
		return none{}, nil, withPurpose(l.SetCentralBudget(args.Purpose, limit), args.Purpose)
	}
	return none{}, nil, l.SetBudget(args.Purpose, limit)
}

// withPurpose adds to an error of a purpose without a budget which one it is.
func withPurpose(err error, purpose string) error {
	if errors.Is(err, ledger.ErrUnknown) {
		return fmt.Errorf("%w: %w", err, fl.Invalid("purpose", purpose, "must have a budget: set it first"))
	}
	return err
}

// spentArgs are the arguments of spent.
type spentArgs struct {
	Ledger  uint64 `json:"ledger"`
	Purpose string `json:"purpose"`
	Central bool   `json:"central"`
}

func spent(_ context.Context, _ *Session, l *ledger.Ledger, args spentArgs, _ []byte) (any, []byte, error) {
	sum := l.Spent
	if args.Central {
		sum = l.SpentCentral
	}
	b, err := sum(args.Purpose)
	if err != nil {
		return nil, nil, withPurpose(err, args.Purpose)
	}
	return budget{Epsilon: number(b.Epsilon), Delta: number(b.Delta), Relation: b.Relation.String()}, nil, nil
}

// reserveArgs are the arguments of reserve.
type reserveArgs struct {
	Ledger  uint64 `json:"ledger"`
	Purpose string `json:"purpose"`
	Round   uint64 `json:"round"`
}

// reserve charges one report of a round that a policy has accepted.
func reserve(ctx context.Context, s *Session, l *ledger.Ledger, args reserveArgs, _ []byte) (any, []byte, error) {
	r, err := held[*round](s, "round", args.Round)
	if err != nil {
		return nil, nil, err
	}
	if r.accepted == nil {
		return nil, nil, fl.Invalid("round", r.ID, "must be opened under a policy")
	}
	g, central := r.terms.Guarantee, r.terms.Central
	g.RealNumbers, central.RealNumbers = false, false // the policy accepts it where it is so
	id, err := l.Reserve(ctx, ledger.Charge{Purpose: args.Purpose, Round: r.digest, RoundID: r.ID, Mechanism: r.Mechanism, Guarantee: g, Central: central})
	if errors.Is(err, ledger.ErrDuplicate) {
		err = fmt.Errorf("%w: %w", err, fl.Invalid("round", r.ID, "must have no charge yet: a client sends one report in a round"))
	}
	return struct {
		Entry ledger.ID `json:"entry"`
	}{id}, nil, err
}

// entryArgs are the arguments of operations on an entry of a ledger.
type entryArgs struct {
	Ledger uint64    `json:"ledger"`
	Entry  ledger.ID `json:"entry"`
}

func (a budgetArgs) object() (string, uint64)  { return "ledger", a.Ledger }
func (a spentArgs) object() (string, uint64)   { return "ledger", a.Ledger }
func (a reserveArgs) object() (string, uint64) { return "ledger", a.Ledger }
func (a entryArgs) object() (string, uint64)   { return "ledger", a.Ledger }

func spend(_ context.Context, _ *Session, l *ledger.Ledger, args entryArgs, _ []byte) (any, []byte, error) {
	return none{}, nil, l.Spend(args.Entry)
}

// unspend gives a reservation back: the caller vouches that no report of it has left.
func unspend(_ context.Context, _ *Session, l *ledger.Ledger, args entryArgs, _ []byte) (any, []byte, error) {
	return none{}, nil, l.Release(args.Entry)
}

// receiptArgs are the arguments of receipt.
type receiptArgs struct {
	entryArgs
	Receipt string `json:"receipt"`
}

func receipt(_ context.Context, _ *Session, l *ledger.Ledger, args receiptArgs, _ []byte) (any, []byte, error) {
	return none{}, nil, l.Receipt(args.Entry, args.Receipt)
}
