package shuffler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/releases"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Errors of a round's life, mapped to codes by statuses.
var (
	errEnded         = errors.New("the round takes no more reports")
	errOtherRound    = errors.New("the shuffler knows another description of the round")
	errOtherShuffler = errors.New("the round is not for this shuffler")
	errNotFound      = errors.New("not found")
	errLimit         = errors.New("limit reached")
	errNoServer      = errors.New("the server does not answer")
)

// because is an fl.Invalid that wraps why, one of the errors of a round's life.
func because(why error, param string, got any, rule string, args ...any) error {
	return fmt.Errorf("%w: %w", fl.Invalid(param, got, rule, args...), why)
}

// checkRoundID asks of a round's id what fl.Round asks.
func checkRoundID(id string) error {
	var p *fl.ParamError
	if err := (fl.Round{ID: id}).Validate(); errors.As(err, &p) && p.Param == "id" {
		return fl.Invalid("round_id", id, "%s", p.Rule)
	}
	return nil
}

// known returns a round that has not ended, or nil.
func (s *Shuffler) known(id string) *round {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rounds[id]
}

// all returns the rounds that have not ended.
func (s *Shuffler) all() []*round {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*round, 0, len(s.rounds))
	for _, r := range s.rounds {
		out = append(out, r)
	}
	return out
}

// ended returns how a round has ended, and "" if it has not.
func (s *Shuffler) ended(id string) (outcome, error) {
	data, err := s.journal.Get(usedKey(id))
	if errors.Is(err, journal.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return parseOutcome(data)
}

// find returns a round to which reports may be sent. It asks the server about one that it does not
// know.
func (s *Shuffler) find(ctx context.Context, id string) (*round, error) {
	if err := checkRoundID(id); err != nil {
		return nil, err
	}
	if r := s.known(id); r != nil {
		return r, nil
	}
	end, err := s.ended(id)
	switch {
	case err != nil:
		return nil, err
	case end != "":
		return nil, because(errEnded, "round_id", id, "must be the id of a round that has not ended")
	}
	st, err := s.upstream.round(ctx, id)
	if err != nil {
		return nil, err
	}
	if st.state != service.RoundState_ROUND_STATE_OPEN {
		return nil, because(errEnded, "round_id", id, "must be the id of an open round")
	}
	return s.adopt(ctx, st.round)
}

// adopt begins to keep reports of a round, unless there is one with its id. From then on its
// description is the only one.
func (s *Shuffler) adopt(ctx context.Context, description fl.Round) (*round, error) {
	select {
	case s.adopting <- struct{}{}:
		defer func() { <-s.adopting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r := s.known(description.ID); r != nil {
		return r, nil
	}
	end, err := s.ended(description.ID)
	switch {
	case err != nil:
		return nil, err
	case end != "":
		return nil, because(errEnded, "round_id", description.ID, "must be the id of a round that has not ended")
	}
	if n := len(s.all()); n >= s.cfg.MaxRounds {
		return nil, because(errLimit, "round_id", description.ID, "must wait: reports of %d rounds are kept", n)
	}
	r, err := s.newRound(description)
	if err == nil && r.mechanism != nil {
		err = cmp.Or(s.lost, s.vault.Check(r.digest))
	}
	switch {
	case errors.Is(err, releases.Err):
		return nil, because(errEnded, "round_id", description.ID, "must be the id of another round: %v", err)
	case err != nil:
		return nil, err
	}
	raw, err := s.vault.create(r.digest)
	if err == nil {
		r.secret, err = newSecret(raw)
	}
	if err == nil {
		err = s.begin(r)
	}
	switch {
	case errors.Is(err, journal.ErrFailed): // the round may have begun
		return nil, err
	case err != nil:
		return nil, errors.Join(err, s.vault.destroy(r.digest))
	}
	s.model.renew()
	s.mu.Lock()
	s.rounds[description.ID] = r
	s.mu.Unlock()
	s.start(r)
	r.logger.Info("round begun", "reports_needed", r.need)
	return r, nil
}

// begin makes it durable that reports of a round are kept.
func (s *Shuffler) begin(r *round) error {
	encoded, err := r.description.MarshalBinary()
	if err != nil {
		return err
	}
	data, err := json.Marshal(head{Version: headVersion, Round: encoded, Check: r.secret.check})
	if err != nil {
		return err
	}
	var b journal.Batch
	b.Put(headKey(r.description.ID), data)
	b.Put(openKey(r.description.ID), nil)
	return s.journal.Commit(&b)
}

// checkVault finds out whether the vault is the one with which the journal began. Another one does not know which sums have left, and the
// journal, which may be older than a round, does not know it either: there are no rounds of two servers then.
func (s *Shuffler) checkVault() error {
	id, err := s.journal.Get([]byte(vaultKey))
	switch {
	case errors.Is(err, journal.ErrNotFound):
		var b journal.Batch
		b.Put([]byte(vaultKey), []byte(s.vault.ID()))
		return s.journal.Commit(&b)
	case err != nil:
		return err
	}
	if err := s.vault.Same(string(id)); err != nil {
		s.lost = fmt.Errorf("%w: %w: %w", fl.Invalid("secrets", "another directory", "must be the one with which the journal began, "+
			"or the shuffler needs a new journal and a new key for rounds of two servers, and the operator aborts those that are open"), errOtherShuffler, err)
		s.cfg.Logger.Warn("there are no rounds of two servers", "error", s.lost)
	}
	return nil
}

// restore reads the rounds in the journal.
func (s *Shuffler) restore() error {
	secrets := map[[32]byte]bool{}
	prefix := []byte(headPrefix)
	for pair, err := range s.journal.Scan(prefix, journal.After(prefix)) {
		if err != nil {
			return err
		}
		r, err := s.restoreRound(pair)
		if err != nil {
			return fmt.Errorf("%s: %w", pair.Key, err)
		}
		s.rounds[r.description.ID] = r
		secrets[r.digest] = true
	}
	for _, r := range s.rounds {
		if err := r.recount(); err != nil {
			return fmt.Errorf("round %s: %w", r.description.ID, err)
		}
		r.logger.Info("round restored", "reports", r.held.Load())
	}
	return s.vault.sweep(secrets)
}

func (s *Shuffler) restoreRound(pair journal.Pair) (*round, error) {
	h, description, err := parseHead(pair.Value)
	if err != nil {
		return nil, err
	}
	if string(pair.Key) != headPrefix+description.ID {
		return nil, fl.Invalid("id", description.ID, "must be the entry's")
	}
	r, err := s.newRound(description)
	if err != nil {
		return nil, err
	}
	switch _, err := s.journal.Get(openKey(description.ID)); {
	case errors.Is(err, journal.ErrNotFound):
		r.phase = phaseForwarding
	case err != nil:
		return nil, err
	}
	if r.mechanism != nil {
		err = s.lost
	}
	if err == nil {
		r.secret, err = s.secretOf(r.digest, h.Check)
	}
	if err != nil {
		r.phase = phaseLost
		r.logger.Error("the reports of the round cannot be read without its secret: they are deleted when the round ends, "+
			"unless the secret is back when the shuffler starts", "error", err)
	}
	return r, nil
}

// secretOf returns the secret of a round that was begun.
func (s *Shuffler) secretOf(round [32]byte, check []byte) (*secret, error) {
	raw, err := s.vault.read(round)
	if err != nil {
		return nil, err
	}
	out, err := newSecret(raw)
	if err != nil {
		return nil, err
	}
	if string(out.check) != string(check) {
		return nil, fl.Invalid("secret", "another one", "must be the one with which the round began")
	}
	return out, nil
}
