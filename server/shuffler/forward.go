package shuffler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/releases"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

const (
	// messageReports bounds the sealed reports in a message to the server, beside
	// Config.ForwardBytes.
	messageReports = 4096
	// messageItems bounds what is in memory for it: sealed reports and second shares.
	messageItems = 8 << 20
	// messages is how many are on their way at one time.
	messages = 2
	// orderAtOnce is how many reports are put into order in memory, of 40 bytes each.
	orderAtOnce = 1 << 19
	// forwardTimeout bounds a call that forwards.
	forwardTimeout = 5 * time.Minute
)

// forwarding is one try to forward a round.
type forwarding struct {
	*round
	group *errgroup.Group

	mu             sync.Mutex
	sum            fl.ShareAggregator // nil if the round has one server
	sent, rejected int64
	said           int64 // tenths that were logged
}

// forward sends all reports of the round and completes it at the server. An error means that it is
// to be tried again from the beginning.
func (r *round) forward(ctx context.Context) (outcome, error) {
	group, sending := errgroup.WithContext(ctx)
	group.SetLimit(messages)
	f := &forwarding{round: r, group: group}
	if r.mechanism != nil {
		var err error
		if f.sum, err = r.mechanism.NewShareAggregator(fl.SecondServer); err != nil {
			return "", err
		}
	}
	err := f.sendAll(sending)
	if sent := group.Wait(); sent != nil {
		err = sent // the reason why the rest was not sent
	}
	if err != nil {
		return "", err
	}
	if err := f.complete(ctx); errors.Is(err, releases.Err) {
		r.logger.Error("the round ends without another sum", "error", err)
		return withdrawn, nil
	} else if err != nil {
		return "", err
	}
	r.shuffler.metrics.forwarded(f.sent-f.rejected, f.rejected)
	level := slog.LevelInfo
	if f.rejected > 0 {
		level = slog.LevelWarn
	}
	r.logger.Log(ctx, level, "round forwarded", "reports", f.sent, "rejected_by_the_server", f.rejected)
	return forwarded, nil
}

// place is where a report is in the order in which they leave.
type place struct {
	rank uint64
	key  [keyBytes]byte
}

// sendAll sends all reports by their ranks, of which each pass over the journal takes a range.
func (f *forwarding) sendAll(ctx context.Context) error {
	held := f.held.Load()
	passes := uint64((held + orderAtOnce - 1) / orderAtOnce)
	next := &message{}
	for pass := range passes {
		places, err := f.places(ctx, pass, passes, int(held/int64(passes)))
		if err != nil {
			return err
		}
		for _, p := range places {
			if next, err = f.add(ctx, next, p); err != nil {
				return err
			}
		}
	}
	f.send(ctx, next)
	return nil
}

// places returns the reports of a pass in order.
func (f *forwarding) places(ctx context.Context, pass, passes uint64, about int) ([]place, error) {
	prefix := reportsOf(f.description.ID)
	places := make([]place, 0, about+about/64+16)
	for pair, err := range f.shuffler.journal.Scan(prefix, journal.After(prefix)) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		rank := f.secret.rank(pair.Key)
		if high, _ := bits.Mul64(rank, passes); high == pass {
			places = append(places, place{rank, [keyBytes]byte(pair.Key[len(prefix):])})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), bytes.Compare(a.key[:], b.key[:]))
	})
	return places, nil
}

// message is what one call takes to the server.
type message struct {
	sealed []byte
	shares [][]byte // of the second server
	tags   []byte   // of these shares
	preps  []byte   // preparation shares of these, in a round with proofs
	bytes  int
}

// add puts a report into a message, and returns the one for the next report.
func (f *forwarding) add(ctx context.Context, m *message, p place) (*message, error) {
	key := reportKey(f.description.ID, p.key)
	value, err := f.shuffler.journal.Get(key)
	if err != nil {
		return nil, err
	}
	size, sealed := f.format.Item(), f.format.Sealed
	item, err := f.secret.open(key, value)
	if err == nil && len(item) != size {
		err = fl.Invalid("report", fmt.Sprintf("%d bytes", len(item)), "must have %d", size)
	}
	if err != nil {
		return nil, err
	}
	m.sealed = append(m.sealed, item[:sealed]...)
	m.bytes += size
	if f.sum != nil {
		share, tag, err := f.opener.Open(item)
		if err != nil {
			return nil, err
		}
		m.shares, m.tags = append(m.shares, share), append(m.tags, tag...)
		prepared := f.prepare(share)
		m.preps = append(m.preps, prepared...)
		sealed += len(prepared)
	}
	if n := len(m.sealed) / f.format.Sealed; n == messageReports || (n+1)*sealed > f.shuffler.cfg.ForwardBytes || m.bytes+size > messageItems {
		f.send(ctx, m)
		return &message{}, ctx.Err()
	}
	return m, nil
}

// prepare returns the second server's part of the check of a report, and nothing in a round without proofs. A share that was
// taken has one, but for one in 2^100 keys. Zeros in its place have the server reject the report.
func (f *forwarding) prepare(share []byte) []byte {
	if f.proved == nil {
		return nil
	}
	prepared, err := f.proved.AppendPrepShare(nil, &f.secret.verify, share)
	if err != nil {
		f.logger.Error("a report has no preparation share", "error", err)
		return make([]byte, f.proved.PrepShareBytes())
	}
	return prepared
}

// send sends a message while others are on their way.
func (f *forwarding) send(ctx context.Context, m *message) {
	if len(m.sealed) == 0 {
		return
	}
	req := &service.ForwardReportsRequest{
		RoundId: f.description.ID, RoundDigest: f.digest[:], Sealed: m.sealed, ShareTags: m.tags, PrepShares: m.preps,
	}
	if f.proved != nil {
		req.VerifyKey = f.secret.verify[:]
	}
	f.group.Go(func() error {
		var resp *service.ForwardReportsResponse
		err := f.persist(ctx, func(ctx context.Context) (err error) {
			resp, err = f.shuffler.upstream.shuffled.ForwardReports(ctx, req)
			return err
		})
		if err != nil {
			return err
		}
		return f.answered(m, resp.GetRejected())
	})
}

// answered notes what the server did with a message.
func (f *forwarding) answered(m *message, rejected []uint32) error {
	n := len(m.sealed) / f.format.Sealed
	for i, at := range rejected {
		if int(at) >= n || i > 0 && at <= rejected[i-1] {
			return fl.Invalid("rejected", at, "must be positions of %d reports in order", n)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent += int64(n)
	f.rejected += int64(len(rejected))
	if tenths := 10 * f.sent / max(1, f.held.Load()); tenths > f.said {
		f.said = tenths
		f.logger.Info("forwarding", "reports", f.sent, "of", f.held.Load())
	}
	for i, share := range m.shares {
		if len(rejected) > 0 && int(rejected[0]) == i {
			rejected = rejected[1:]
			continue
		}
		id := seal.ID(m.sealed[i*f.format.Sealed : (i+1)*f.format.Sealed])
		if err := f.sum.Add(id[:], share); err != nil {
			return err
		}
	}
	return nil
}

// complete tells the server that it has all reports.
func (f *forwarding) complete(ctx context.Context) error {
	req := &service.CompleteRoundRequest{RoundId: f.description.ID, RoundDigest: f.digest[:]}
	var err error
	if req.ShareSum, err = f.release(); err != nil {
		return err
	}
	return f.persist(ctx, func(ctx context.Context) error {
		_, err := f.shuffler.upstream.shuffled.CompleteRound(ctx, req)
		return err
	})
}

// release returns what the second server releases: nothing for a round that has one server, or
// has fewer reports than min_reports that the server counts. The first sum is durable before it
// leaves, and no other one ever leaves: a server that rejects other reports the next time could
// otherwise subtract two sums, and would have the shares of a few clients. The error wraps releases.Err when
// another sum has left, which the journal does not have.
func (f *forwarding) release() ([]byte, error) {
	if f.sum == nil || f.sent-f.rejected < int64(f.description.MinReports) {
		return nil, nil
	}
	key := sumKey(f.description.ID)
	value, err := f.shuffler.journal.Get(key)
	var sum []byte
	switch {
	case err == nil:
		sum, err = f.secret.open(key, value)
	case errors.Is(err, journal.ErrNotFound):
		if err = f.shuffler.vault.Check(f.digest); err != nil {
			return nil, err
		}
		if sum, err = f.sum.Release(nil); err == nil {
			var b journal.Batch
			b.Put(key, f.secret.seal(key, sum))
			err = f.shuffler.journal.Commit(&b)
		}
	}
	if err != nil {
		return nil, err
	}
	return sum, f.shuffler.vault.Note(f.digest)
}

// persist calls the server until it takes what it is given or refuses it.
func (f *forwarding) persist(ctx context.Context, call func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		bounded, cancel := context.WithTimeout(ctx, forwardTimeout)
		err := call(bounded)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			f.shuffler.metrics.failed()
		}
		if ctx.Err() != nil || !transient(err) {
			return fmt.Errorf("forward: %w", err)
		}
		f.logger.Warn("the server does not take reports, trying again", "attempt", attempt, "error", err)
		if !f.shuffler.pause(ctx, backoff(attempt)) {
			return ctx.Err()
		}
	}
}
