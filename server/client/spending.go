package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server/admit"
)

// spending takes the one report of a participation through its steps: reserve, fetch the tokens if the
// round asks for them, encode, keep, seal, keep what is sealed, spend, send, note the receipt.
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
func (p *Participation) newSpending() (*spending, error) {
	opts := p.client.opts
	if p.admitted() {
		if p.issuer == nil {
			return nil, fl.Invalid("Issuer", "nothing", "is required: the round asks for tokens")
		}
		if _, err := admit.NewVerifier(p.round.IssuerKey, p.digest); err != nil {
			return nil, err
		}
	}
	if opts.Ledger == nil && !p.admitted() {
		return nil, nil
	}
	s := &spending{part: p, ledger: opts.Ledger, charge: ledger.Charge{
		Purpose: opts.Purpose, Round: p.digest, RoundID: p.round.ID, Mechanism: p.round.Mechanism, Guarantee: p.terms.Guarantee, Central: p.terms.Central,
	}}
	if s.ledger == nil {
		return s, nil
	}
	return s, s.resume()
}

// admitted says whether the round asks for tokens.
func (p *Participation) admitted() bool { return len(p.round.IssuerKey) > 0 }

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
	spent := e.State == ledger.Spent
	kept, err := parseSubmission(data, s.part.form(spent))
	if err != nil {
		return fmt.Errorf("entry %v of the ledger: %w", e.ID, err)
	}
	s.entry, s.kept, s.spent = e.ID, &kept, spent
	return nil
}

// form is what a submission of this round looks like.
func (p *Participation) form(spent bool) form {
	f := form{admitted: p.admitted(), spent: spent}
	if p.sealing != nil {
		f.item = p.sealing.Format().Item()
	}
	return f
}

// encode reserves the charge, encodes, and keeps the report. In a round that asks for tokens FetchToken has reserved the
// charge, and a report that cannot be encoded leaves it reserved: the token is there for another one.
func (s *spending) encode(dst []byte, encode func(fl.Mechanism, []byte) ([]byte, error)) (out []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, admitted, start := s.entry, s.part.admitted(), len(dst)
	m, err := s.mechanism()
	switch {
	case err == nil && s.ledger == nil:
		return encode(m, dst)
	case err == nil && !admitted:
		entry, err = s.ledger.Reserve(context.Background(), s.charge)
	case err == nil && len(s.kept.Report) > 0:
		err = fmt.Errorf("round %s: %w", s.part.round.ID, ledger.ErrDuplicate)
	}
	if err != nil {
		return dst, fmt.Errorf("client: encode: %w", err)
	}
	out, err = encode(m, dst)
	var kept *submission
	if err == nil {
		kept, err = s.submission(out[start:])
	}
	if err == nil {
		err = s.keep(entry, kept)
	}
	if err != nil && !admitted { // there is no report that could leave
		err = errors.Join(err, s.ledger.Release(entry))
	}
	if err != nil {
		return dst, err
	}
	s.entry, s.kept = entry, kept
	return out, nil
}

// mechanism returns the mechanism that encodes the report: with the token's seed in a round that asks for tokens. The
// caller holds s.mu.
func (s *spending) mechanism() (fl.Mechanism, error) {
	if !s.part.admitted() {
		return s.part.mechanism, nil
	}
	if s.kept == nil || len(s.kept.Token) == 0 {
		return nil, needsToken()
	}
	if m, ok := s.part.mechanism.(fl.SeededMechanism); ok {
		return m.WithSeed(admit.Seed(s.kept.Token)), nil
	}
	return s.part.mechanism, nil
}

// submission is a report with what makes it count once: the tokens, or a key that is drawn. The caller holds s.mu.
func (s *spending) submission(report []byte) (*submission, error) {
	if s.ledger != nil && s.part.sealing != nil && len(report) > maxKeptSealed {
		return nil, fl.Invalid("report", fmt.Sprintf("%d bytes", len(report)), "must have at most %d: the ledger keeps it and what is sealed", maxKeptSealed)
	}
	out := submission{Version: submissionVersion}
	if s.part.admitted() {
		out = *s.kept
	} else if s.part.sealing == nil {
		out.BatchKey = newBatchKey()
	}
	out.Report = bytes.Clone(report)
	return &out, nil
}

// newRequest draws a request for a token under one key of the round.
func (p *Participation) newRequest(issuerKey []byte) ([]byte, error) {
	request, err := admit.NewRequest(issuerKey, p.digest)
	if err != nil {
		return nil, err
	}
	return request.MarshalBinary()
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
func (s *spending) spend(reports [][]byte) ([]*service.SubmitReportsRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.part.admitted() && (s.kept == nil || len(s.kept.Token) == 0) {
		return nil, needsToken()
	}
	if s.ledger == nil && len(s.kept.Report) == 0 && len(reports) == 1 {
		kept, err := s.submission(reports[0])
		if err != nil {
			return nil, err
		}
		s.kept = kept
	}
	if s.kept == nil || len(reports) != 1 || !bytes.Equal(reports[0], s.kept.Report) {
		return nil, fl.Invalid("reports", len(reports), "must be the one report of this participation")
	}
	if err := s.seal(); err != nil {
		return nil, err
	}
	message, err := s.message()
	if err != nil {
		return nil, err
	}
	if !s.spent && s.ledger != nil {
		if err := s.ledger.Spend(s.entry); err != nil {
			return nil, err
		}
	}
	s.spent = true
	return []*service.SubmitReportsRequest{message}, nil
}

// seal seals the report and its token, unless that is done or the round has no shuffler. The same
// bytes have to leave whenever the report is sent again. The caller holds s.mu.
func (s *spending) seal() (err error) {
	if s.part.sealing == nil || len(s.kept.Item) > 0 {
		return nil
	}
	kept := *s.kept
	if kept.Item, err = s.part.sealing.Item(kept.Report, kept.Token); err != nil {
		return err
	}
	if err := s.keep(s.entry, &kept); err != nil {
		return err
	}
	s.kept = &kept
	return nil
}

// message is what leaves. The caller holds s.mu.
func (s *spending) message() (*service.SubmitReportsRequest, error) {
	message := s.part.message()
	if s.part.sealing != nil {
		message.Reports, message.Tokens = s.kept.Item, s.kept.OuterToken
		return message, nil
	}
	packed, err := fl.PackReports(s.part.mechanism, nil, s.kept.Report)
	message.BatchKey, message.Reports, message.Tokens = s.kept.BatchKey, packed, s.kept.Token
	return message, err
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
	s := p.spending
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || s.done || len(s.kept.Report) == 0 {
		return nil
	}
	return bytes.Clone(s.kept.Report)
}
