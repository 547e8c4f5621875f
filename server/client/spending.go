package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/admit"
)

// spending takes the one report of a participation through its steps: reserve, encode, keep,
// fetch the token, spend, send, note the receipt.
type spending struct {
	part   *Participation
	ledger *ledger.Ledger // nil without one
	charge ledger.Charge

	mu    sync.Mutex
	entry ledger.ID // 0 before the reservation
	kept  *submission
	spent bool
	done  bool // the server has acknowledged it
}

// newSpending returns nil for a participation that needs none. With a ledger it takes up what an
// earlier process has left.
func (c *Client) newSpending(p *Participation) (*spending, error) {
	admitted := len(p.round.IssuerKey) > 0
	if admitted {
		if c.issuer == nil {
			return nil, fl.Invalid("Issuer", "nothing", "is required: the round asks for tokens")
		}
		if _, err := admit.NewVerifier(p.round.IssuerKey, p.digest); err != nil {
			return nil, err
		}
	}
	if c.opts.Ledger == nil && !admitted {
		return nil, nil
	}
	s := &spending{part: p, ledger: c.opts.Ledger, charge: ledger.Charge{
		Purpose: c.opts.Purpose, Round: p.digest, RoundID: p.round.ID, Mechanism: p.round.Mechanism, Guarantee: p.guarantee,
	}}
	if s.ledger == nil {
		return s, nil
	}
	return s, s.resume()
}

// resume takes up an entry of the ledger that keeps a report.
func (s *spending) resume() error {
	e, err := s.ledger.Find(s.charge.Purpose, s.charge.Round)
	if errors.Is(err, ledger.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := s.ledger.Kept(e.ID)
	if err != nil || data == nil {
		return err
	}
	kept, err := parseSubmission(data)
	if err != nil {
		return fmt.Errorf("entry %v of the ledger: %w", e.ID, err)
	}
	s.entry, s.kept, s.spent = e.ID, &kept, e.State == ledger.Spent
	return nil
}

// encode reserves the charge, encodes, and keeps the report.
func (s *spending) encode(dst []byte, encode func([]byte) ([]byte, error)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, err := s.ledger.Reserve(context.Background(), s.charge)
	if err != nil {
		return dst, fmt.Errorf("client: encode: %w", err)
	}
	start := len(dst)
	out, err := encode(dst)
	var kept *submission
	if err == nil {
		kept, err = s.submission(out[start:])
	}
	if err == nil {
		err = s.keep(entry, kept)
	}
	if err != nil { // there is no report that could leave
		return dst, errors.Join(err, s.ledger.Release(entry))
	}
	s.entry, s.kept = entry, kept
	return out, nil
}

// submission draws what makes a report count once.
func (s *spending) submission(report []byte) (*submission, error) {
	out := &submission{Version: submissionVersion, Report: bytes.Clone(report)}
	if len(s.part.round.IssuerKey) == 0 {
		out.BatchKey = newBatchKey()
		return out, nil
	}
	request, err := admit.NewRequest(s.part.round.IssuerKey, s.part.digest)
	if err != nil {
		return nil, err
	}
	out.Request, err = request.MarshalBinary()
	return out, err
}

// keep puts a submission into the ledger, if there is one.
func (s *spending) keep(entry ledger.ID, kept *submission) error {
	if s.ledger == nil {
		return nil
	}
	data, err := kept.marshal()
	if err != nil {
		return err
	}
	return s.ledger.Keep(entry, data)
}

// spend records that the report is about to leave, and returns the message that it leaves in. To
// send it again after a failure is not a new expense.
func (s *spending) spend(ctx context.Context, reports [][]byte) ([]*service.SubmitReportsRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil && s.ledger == nil && len(reports) == 1 {
		kept, err := s.submission(reports[0])
		if err != nil {
			return nil, err
		}
		s.kept = kept
	}
	if s.kept == nil || len(reports) != 1 || !bytes.Equal(reports[0], s.kept.Report) {
		return nil, fl.Invalid("reports", len(reports), "must be the one report of this participation")
	}
	packed, err := fl.PackReports(s.part.mechanism, nil, s.kept.Report)
	if err != nil {
		return nil, err
	}
	if err := s.fetch(ctx); err != nil {
		return nil, err
	}
	if !s.spent && s.ledger != nil {
		if err := s.ledger.Spend(s.entry); err != nil {
			return nil, err
		}
	}
	s.spent = true
	return []*service.SubmitReportsRequest{{
		RoundId: s.part.round.ID, RoundDigest: s.part.digest[:], BatchKey: s.kept.BatchKey, Reports: packed, Tokens: s.kept.Token,
	}}, nil
}

// acknowledge notes that the server has the report.
func (s *spending) acknowledge(r Receipt) error {
	if s.ledger == nil {
		return nil
	}
	text := fmt.Sprintf("accepted %d, duplicates %d", r.Accepted, r.Duplicates)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ledger.Receipt(s.entry, text); err != nil && !errors.Is(err, ledger.ErrState) {
		return fmt.Errorf("the report was sent: %w", err)
	}
	s.done = true
	return nil
}

// Unfinished returns the report of this round that the ledger keeps, of this process or of an
// earlier one that was killed, until the server has acknowledged it: submit it. It returns nil if
// there is none.
func (p *Participation) Unfinished() []byte {
	if p.spending == nil || p.client.opts.Ledger == nil {
		return nil
	}
	return p.spending.unfinished()
}

func (s *spending) unfinished() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || s.done {
		return nil
	}
	return bytes.Clone(s.kept.Report)
}
