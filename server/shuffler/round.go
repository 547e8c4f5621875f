package shuffler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/internal/claims"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// phase is where in its life a round is.
type phase int

const (
	phaseOpen       phase = iota
	phaseForwarding       // no new reports
	phaseEnded
	phaseLost // its secret is gone: the round waits for its end
)

// round is a round whose reports are kept. The journal is the truth about it.
type round struct {
	shuffler    *Shuffler
	description fl.Round
	digest      [32]byte
	format      seal.Format
	due         time.Time          // the deadline as this process measures it: setting the clock moves no deadline
	mechanism   fl.SharedMechanism // nil if the round has one server
	proved      fl.ProvedMechanism // nil if its reports have no proofs
	opener      *seal.ShareOpener  // of its shares
	need        int64              // reports without which nothing leaves
	tokens      *admit.Verifier    // of outer tokens, nil if the round asks for none
	most        int64              // reports that are kept
	secret      *secret
	logger      *slog.Logger
	kick        chan struct{} // has a value when the watcher should look

	claims  claims.Set[[keyBytes]byte]
	shares  chan fl.ShareAggregator // has the one that checks shares
	held    atomic.Int64            // reports in the journal
	taken   atomic.Int64            // those, and the ones that are on their way there
	refused atomic.Int64            // messages because of a token, since the start
	proof   atomic.Pointer[[]byte]  // the last one of the server that the round is in its log
	unknown sinceTime               // the server does not know the round
	closing atomic.Bool             // the server has asked for the reports

	mu    sync.RWMutex // read by calls from the look at phase to their commit
	phase phase
}

// newRound returns a round without a secret. The error is about a round that this shuffler does
// not serve.
func (s *Shuffler) newRound(description fl.Round) (*round, error) {
	switch {
	case description.Shuffler != s.cfg.Name:
		return nil, because(errOtherShuffler, "shuffler", description.Shuffler, "must be %q", s.cfg.Name)
	case description.Dim > s.cfg.MaxDim:
		return nil, because(errOtherShuffler, "dim", description.Dim, "must be at most %d", s.cfg.MaxDim)
	}
	digest, err := description.Digest()
	if err != nil {
		return nil, err
	}
	m, err := fl.Open(description)
	if err != nil {
		return nil, err
	}
	format, err := seal.FormatOf(description, m)
	if err != nil {
		return nil, err
	}
	const envelope = 1 << 10 // the other fields of a message
	if size := format.Item(); size > s.cfg.MaxMessageBytes-envelope {
		return nil, because(errOtherShuffler, "dim", description.Dim, "must leave what a client sends (%d bytes) below the message limit of %d bytes", size, s.cfg.MaxMessageBytes)
	}
	most := int64(s.cfg.MaxReports)
	var tokens *admit.Verifier
	if len(description.OuterIssuerKey) > 0 {
		most = fl.MaxReports // the issuer bounds them
		if tokens, err = admit.NewVerifier(description.OuterIssuerKey, digest); err != nil {
			return nil, err
		}
	}
	need := int64(max(description.MinReports, s.cfg.Floor))
	if wanted := max(need, int64(description.TargetReports)); wanted > most {
		return nil, because(errOtherShuffler, "min_reports", wanted, "must be, as target_reports and the floor, at most %d %s", most, withoutTokens)
	}
	r := &round{
		shuffler: s, description: description, digest: digest, format: format,
		tokens: tokens, most: most, need: need,
		logger: s.cfg.Logger.With("round", description.ID),
		kick:   make(chan struct{}, 1),
	}
	if now := s.cfg.Now(); !description.Deadline.IsZero() {
		r.due = now.Add(description.Deadline.Sub(now))
	}
	if shared, ok := m.(fl.SharedMechanism); ok {
		agg, err := shared.NewShareAggregator(fl.SecondServer)
		if err != nil {
			return nil, err
		}
		key, err := s.shareKey(description)
		if err != nil {
			return nil, err
		}
		r.opener = key.NewShareOpener(format, digest)
		r.mechanism, r.shares = shared, make(chan fl.ShareAggregator, 1)
		r.proved, _ = m.(fl.ProvedMechanism)
		r.shares <- agg
	}
	return r, nil
}

// shareKey returns the key to which second shares of a round are sealed.
func (s *Shuffler) shareKey(description fl.Round) (*seal.Key, error) {
	if s.cfg.Keys == nil {
		return nil, because(errOtherShuffler, "share_key", seal.FingerprintOf(description.ShareKey), "must be one of this shuffler, which has none")
	}
	key, err := s.cfg.Keys.Find(description.ShareKey)
	if errors.Is(err, seal.ErrNoKey) {
		return nil, because(errOtherShuffler, "share_key", seal.FingerprintOf(description.ShareKey), "must be one of this shuffler: hushgrad shuffle keys lists them")
	}
	return key, err
}

// recount counts the reports in the journal.
func (r *round) recount() error {
	prefix := reportsOf(r.description.ID)
	n := int64(0)
	for pair, err := range r.shuffler.journal.Scan(prefix, journal.After(prefix)) {
		if err != nil {
			return err
		}
		if len(pair.Key) != len(prefix)+keyBytes {
			return fl.Invalid("key", fmt.Sprintf("%d bytes", len(pair.Key)), "must have %d", len(prefix)+keyBytes)
		}
		n++
	}
	r.held.Store(n)
	r.taken.Store(n)
	return nil
}

// withoutTokens ends the rule about Config.MaxReports.
const withoutTokens = "in a round without tokens on this shuffler: hushgrad shuffle --max-reports raises that, and hushgrad round --issuer-key has clients admitted"

// entry is a sealed report on its way into the journal.
type entry struct {
	at    int // in its message
	key   [keyBytes]byte
	item  []byte
	token []byte // nil in a round that asks for none
	// spends is the key of the token.
	spends [keyBytes]byte
}

// receipt says how many reports are new, and how many were there before.
type receipt struct{ accepted, duplicates int64 }

// submit keeps the reports of a message that are new, all of them or none. When it returns without
// an error they are in the journal. tokens are the reports' tokens, one after the other.
func (r *round) submit(ctx context.Context, message, tokens []byte) (receipt, error) {
	if r.secret == nil {
		return receipt{}, errNoSecret
	}
	entries, err := r.entries(message, tokens)
	if err != nil {
		return receipt{}, err
	}
	release, err := r.claims.Take(ctx, r.keysOf(entries))
	if err != nil {
		return receipt{}, err
	}
	defer release()
	fresh, got, err := r.fresh(entries)
	if err == nil && len(fresh) > 0 {
		err = r.takes()
	}
	if err == nil {
		err = r.admit(ctx, fresh)
	}
	if err != nil {
		return receipt{}, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch {
	case r.phase == phaseEnded:
		return receipt{}, r.endedError()
	case len(fresh) == 0:
		return got, nil
	case r.phase != phaseOpen:
		return receipt{}, r.endedError()
	}
	n := int64(len(fresh))
	if taken := r.taken.Add(n); taken > r.most {
		r.taken.Add(-n)
		return receipt{}, r.tooMany(taken)
	}
	if err = r.checkShares(ctx, fresh); err == nil {
		err = r.keep(fresh)
	}
	if err != nil {
		r.taken.Add(-n)
		return receipt{}, err
	}
	return got, nil
}

// entries cuts a message apart.
func (r *round) entries(message, tokens []byte) ([]entry, error) {
	items, err := seal.Split(message, r.format.Item())
	if err != nil {
		return nil, err
	}
	each, err := r.splitTokens(tokens, len(items))
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(items))
	for i, item := range items {
		entries[i] = entry{at: i, key: r.secret.key(seal.ID(item[:r.format.Sealed])), item: item}
		if each != nil {
			entries[i].token, entries[i].spends = each[i], r.secret.spends(each[i])
		}
	}
	return entries, nil
}

// keysOf returns the keys of reports and of their tokens.
func (r *round) keysOf(entries []entry) (keys [][keyBytes]byte) {
	for _, e := range entries {
		keys = append(keys, e.key)
		if e.token != nil {
			keys = append(keys, e.spends)
		}
	}
	return keys
}

func (r *round) endedError() error {
	return because(errEnded, "round_id", r.description.ID, "must be the id of a round that is still collecting reports")
}

// fresh returns the entries that are not in the journal, and what the receipt will say.
func (r *round) fresh(entries []entry) (fresh []entry, got receipt, err error) {
	seen := make(map[[keyBytes]byte]bool, len(entries))
	for _, e := range entries {
		if seen[e.key] {
			got.duplicates++
			continue
		}
		seen[e.key] = true
		switch _, err := r.shuffler.journal.Get(reportKey(r.description.ID, e.key)); {
		case errors.Is(err, journal.ErrNotFound):
			fresh = append(fresh, e)
			got.accepted++
		case err != nil:
			return nil, receipt{}, err
		default:
			got.duplicates++
		}
	}
	return fresh, got, nil
}

// takes returns nil if the round takes new reports.
func (r *round) takes() error {
	if r.now() != phaseOpen || r.overdue() {
		return r.endedError()
	}
	return nil
}

func (r *round) tooMany(reports int64) error {
	if r.tokens != nil {
		return because(errLimit, "reports", reports, "must be at most %d in a round", r.most)
	}
	return because(errLimit, "reports", reports, "must be at most %d %s", r.most, withoutTokens)
}

// checkShares returns nil if the second server's shares of all entries can be added up.
func (r *round) checkShares(ctx context.Context, fresh []entry) error {
	if r.mechanism == nil {
		return nil
	}
	for _, e := range fresh {
		if err := r.checkShare(ctx, e); err != nil {
			return &fl.BatchError{Index: e.at, Err: err}
		}
	}
	return nil
}

func (r *round) checkShare(ctx context.Context, e entry) error {
	share, _, err := r.opener.Open(e.item)
	if err != nil {
		return fmt.Errorf("%w: %w", fl.ErrBadReport, err)
	}
	select {
	case agg := <-r.shares:
		defer func() { r.shares <- agg }()
		return agg.Add(e.key[:], share)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keep puts entries into the journal, and that their tokens are spent.
func (r *round) keep(fresh []entry) error {
	var b journal.Batch
	for _, e := range fresh {
		key := reportKey(r.description.ID, e.key)
		b.Put(key, r.secret.seal(key, e.item))
		if e.token != nil {
			b.Put(tokenKey(r.description.ID, e.spends), nil)
		}
	}
	if err := r.shuffler.journal.Commit(&b); err != nil {
		return err
	}
	if r.held.Add(int64(len(fresh))) >= r.need {
		select {
		case r.kick <- struct{}{}:
		default: // it will look anyway
		}
	}
	return nil
}
