package shuffler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/hushgrad/hushgrad/fl"
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
	mechanism   fl.SharedMechanism // nil if the round has one server
	need        int64              // reports without which nothing leaves
	secret      *secret
	logger      *slog.Logger
	kick        chan struct{} // has a value when the watcher should look

	claims  claims
	shares  chan fl.ShareAggregator // has the one that checks shares
	held    atomic.Int64            // reports in the journal
	unknown sinceTime               // the server does not know the round

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
	r := &round{
		shuffler: s, description: description, digest: digest, format: format,
		need:   int64(max(description.MinReports, s.cfg.Floor)),
		logger: s.cfg.Logger.With("round", description.ID),
		kick:   make(chan struct{}, 1), claims: claims{byKey: map[[keyBytes]byte]chan struct{}{}},
	}
	if shared, ok := m.(fl.SharedMechanism); ok {
		agg, err := shared.NewShareAggregator(fl.SecondServer)
		if err != nil {
			return nil, err
		}
		r.mechanism, r.shares = shared, make(chan fl.ShareAggregator, 1)
		r.shares <- agg
	}
	return r, nil
}

// recount counts the reports in the journal.
func (r *round) recount() error {
	prefix := reportsOf(r.description.ID)
	n := int64(0)
	for pair, err := range r.shuffler.cfg.Journal.Scan(prefix, journal.After(prefix)) {
		if err != nil {
			return err
		}
		if len(pair.Key) != len(prefix)+keyBytes {
			return fl.Invalid("key", fmt.Sprintf("%d bytes", len(pair.Key)), "must have %d", len(prefix)+keyBytes)
		}
		n++
	}
	r.held.Store(n)
	return nil
}

// entry is a sealed report on its way into the journal.
type entry struct {
	at   int // in its message
	key  [keyBytes]byte
	item []byte
}

// receipt says how many reports are new, and how many were there before.
type receipt struct{ accepted, duplicates int64 }

// submit keeps the reports of a message that are new, all of them or none. When it returns without
// an error they are in the journal.
func (r *round) submit(ctx context.Context, message []byte) (receipt, error) {
	items, err := seal.Split(message, r.format.Item())
	if err != nil {
		return receipt{}, err
	}
	if r.secret == nil {
		return receipt{}, errNoSecret
	}
	entries := make([]entry, len(items))
	for i, item := range items {
		entries[i] = entry{i, r.secret.key(seal.ID(item[:r.format.Sealed])), item}
	}
	release, err := r.claims.take(ctx, entries)
	if err != nil {
		return receipt{}, err
	}
	defer release()
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.phase == phaseEnded {
		return receipt{}, r.endedError()
	}
	fresh, got, err := r.fresh(entries)
	if err != nil || len(fresh) == 0 {
		return got, err
	}
	if err := r.accepts(ctx, fresh); err != nil {
		return receipt{}, err
	}
	return got, r.keep(fresh)
}

func (r *round) endedError() error {
	return because(errEnded, "round_id", r.description.ID, "must be that of a round that is still collecting reports")
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
		switch _, err := r.shuffler.cfg.Journal.Get(reportKey(r.description.ID, e.key)); {
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

// accepts returns nil if the round takes new reports, and those. The caller holds r.mu.
func (r *round) accepts(ctx context.Context, fresh []entry) error {
	switch held := r.held.Load(); {
	case r.phase != phaseOpen || r.overdue():
		return r.endedError()
	case held > fl.MaxReports-int64(len(fresh)):
		return because(errLimit, "reports", held+int64(len(fresh)), "must be at most %d in a round", fl.MaxReports)
	case r.mechanism == nil:
		return nil
	}
	select {
	case agg := <-r.shares:
		defer func() { r.shares <- agg }()
		for _, e := range fresh {
			share, _ := r.format.Second(e.item)
			if err := agg.Add(e.key[:], share); err != nil {
				return &fl.BatchError{Index: e.at, Err: err}
			}
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keep puts entries into the journal.
func (r *round) keep(fresh []entry) error {
	var b journal.Batch
	for _, e := range fresh {
		key := reportKey(r.description.ID, e.key)
		b.Put(key, r.secret.seal(key, e.item))
	}
	if err := r.shuffler.commit(&b); err != nil {
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
