package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// spending is the ledger's side of a participation: reserve, encode, spend, send,
// note the receipt.
type spending struct {
	ledger *ledger.Ledger
	charge ledger.Charge

	mu     sync.Mutex
	entry  ledger.ID // 0 before the reservation
	report []byte    // what was encoded
	spent  bool
}

func newSpending(l *ledger.Ledger, c ledger.Charge) *spending {
	return &spending{ledger: l, charge: c}
}

// encode reserves the charge and then encodes.
func (s *spending) encode(dst []byte, encode func([]byte) ([]byte, error)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, err := s.ledger.Reserve(context.Background(), s.charge)
	if err != nil {
		return dst, fmt.Errorf("client: encode: %w", err)
	}
	start := len(dst)
	out, err := encode(dst)
	if err != nil { // there is no report that could leave
		return dst, errors.Join(err, s.ledger.Release(entry))
	}
	s.entry, s.report = entry, bytes.Clone(out[start:])
	return out, nil
}

// spend records that the report is about to leave. To send the same report again
// after a failure is not a new expense.
func (s *spending) spend(reports [][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entry == 0 || len(reports) != 1 || !bytes.Equal(reports[0], s.report) {
		return fl.Invalid("reports", len(reports), "must be the one report that Encode returned in this participation")
	}
	if s.spent {
		return nil
	}
	if err := s.ledger.Spend(s.entry); err != nil {
		return err
	}
	s.spent = true
	return nil
}

// acknowledge notes that the server has the report.
func (s *spending) acknowledge(r Receipt) error {
	text := fmt.Sprintf("accepted %d, duplicates %d", r.Accepted, r.Duplicates)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ledger.Receipt(s.entry, text); err != nil && !errors.Is(err, ledger.ErrState) {
		return fmt.Errorf("client: submit: the report was sent: %w", err)
	}
	return nil
}
