package server

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// receipt says how many reports were counted, and how many had been counted before.
type receipt struct{ accepted, duplicates int64 }

// submit counts the units that were not counted before. When it returns without an error they
// are in the journal.
func (r *round) submit(ctx context.Context, units []unit, drop drop) (got receipt, err error) {
	release, err := r.claims.Take(ctx, keysOf(units))
	if err != nil {
		return receipt{}, err
	}
	defer release()
	fresh, duplicates, err := r.fresh(units, drop)
	if err == nil {
		fresh, err = r.verify(ctx, fresh, drop)
	}
	if err != nil {
		return receipt{}, err
	}
	got.duplicates = duplicates
	if len(fresh) == 0 {
		return got, nil
	}
	most := reportsIn(fresh)
	if err := r.begin(most); err != nil {
		return receipt{}, err
	}
	err = errInterrupted // stays so if the mechanism panics
	defer func() { r.end(most, got.accepted, err) }()
	got.accepted, err = r.count(ctx, fresh, drop)
	return got, err
}

// fresh returns the units that are not in the journal, and the number of reports in the others.
func (r *round) fresh(units []unit, drop drop) (fresh []unit, duplicates int64, err error) {
	seen := map[string][16]byte{}
	for _, u := range units {
		content, twice := seen[u.key]
		if !twice {
			counted, err := r.journal.Get(r.unitKey(u.key))
			if errors.Is(err, journal.ErrNotFound) {
				seen[u.key] = u.content
				fresh = append(fresh, u)
				continue
			}
			if err != nil {
				return nil, 0, err
			}
			copy(content[:], counted)
		}
		if content == u.content {
			duplicates += int64(len(u.reports))
		} else if err := drop.orFail(u, u.otherContent()); err != nil {
			return nil, 0, err
		}
	}
	return fresh, duplicates, nil
}

// count adds units to an aggregator and then to the journal, and returns the number of their
// reports. After an error the aggregators are not what the journal has, unless the mechanism
// refused a report.
func (r *round) count(ctx context.Context, units []unit, drop drop) (int64, error) {
	start := time.Now()
	units, err := r.shards.add(ctx, units, drop)
	if err != nil || len(units) == 0 {
		return 0, err
	}
	r.metrics.decode.Observe(time.Since(start).Seconds())
	changes := &journal.Batch{}
	packed := units[0].packed
	for i, u := range units {
		changes.Put(r.unitKey(u.key), u.content[:])
		if i > 0 {
			packed = append(packed, u.packed...)
		}
	}
	changes.Put(r.logKey(r.nextLog.Add(1)-1), packed)
	if err := r.journal.Commit(changes); err != nil {
		return 0, fmt.Errorf("%w: %w", errNotKept, err)
	}
	r.logged.Add(int64(len(packed) + entryBytes))
	return reportsIn(units), nil
}

// units returns what a batch asks to count. In a round that asks for tokens each report is a
// unit of its own with its token, which is not verified yet.
func (r *round) units(req *service.SubmitReportsRequest) ([]unit, error) {
	reports, err := fl.UnpackReports(r.mechanism, req.GetReports())
	if err != nil {
		return nil, err
	}
	keyed, tokens := len(req.GetBatchKey()), req.GetTokens()
	if r.tokens == nil {
		switch {
		case keyed < 16 || keyed > 64:
			return nil, fl.Invalid("batch_key", fmt.Sprintf("%d bytes", keyed), "must have 16 to 64")
		case len(tokens) > 0:
			return nil, fl.Invalid("tokens", fmt.Sprintf("%d bytes", len(tokens)), "must be empty in a round without an issuer's key")
		}
		return []unit{newUnit(string(req.GetBatchKey()), req.GetReports(), reports, nil)}, nil
	}
	switch want := len(reports) * admit.TokenBytes; {
	case keyed > 0:
		return nil, fl.Invalid("batch_key", fmt.Sprintf("%d bytes", keyed), "must be empty in a round with an issuer's key")
	case len(tokens) != want:
		return nil, because(admit.ErrToken, "tokens", fmt.Sprintf("%d bytes", len(tokens)), "must have %d: one of %d bytes for each of the %d reports",
			want, admit.TokenBytes, len(reports))
	}
	units := make([]unit, len(reports))
	for i := range units {
		token := tokens[i*admit.TokenBytes:][:admit.TokenBytes]
		packed, err := fl.PackReports(r.mechanism, nil, reports[i])
		if err != nil {
			return nil, err
		}
		units[i] = newUnit(tokenKey(token), packed, reports[i:i+1], token)
	}
	return units, nil
}

// checkSeed returns nil for a report with the seed that its token assigns, and for one without a seed.
func (r *round) checkSeed(u unit) error {
	m, ok := r.mechanism.(fl.SeededMechanism)
	if !ok {
		return nil
	}
	want := admit.Seed(u.token)
	got, err := m.SeedOf(u.reports[0])
	if err != nil {
		return because(err, "reports", fmt.Sprintf("one with the token %x", u.key), "must be reports of this round")
	}
	if got != want {
		return because(fl.ErrBadReport, "reports", fmt.Sprintf("one with the seed %d", got),
			"must have the seed %d, which the token with the id %x assigns: fetch the token first, and encode with its seed", want, u.key)
	}
	return nil
}

// verify returns the units that have tokens of this round and the seeds that these assign, or all if the round asks for none. It
// takes about 40 µs for each.
func (r *round) verify(ctx context.Context, units []unit, drop drop) (good []unit, err error) {
	if r.tokens == nil {
		return units, nil
	}
	for _, u := range units {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := r.tokens.Verify(u.token)
		if err != nil {
			err = because(err, "tokens", fmt.Sprintf("one with the id %x", u.key), "must be tokens of this round")
		} else if err = r.checkSeed(u); err == nil {
			good = append(good, u)
			continue
		}
		if err := drop.orFail(u, err); err != nil {
			return nil, err
		}
	}
	return good, nil
}

// partReports is the number of sealed reports that are opened and counted together, on one core.
// It takes about 0.1 s.
const partReports = 1024

// forwardedReport is a report as the shuffler passes it on.
type forwardedReport struct {
	sealed []byte
	tag    []byte // of the second server's share, empty for a mechanism for one server
	// prep is the second server's preparation share under key, for a mechanism with proofs.
	prep []byte
	key  *fl.VerifyKey
}

// forward counts sealed reports. reasons says, for each, why it does not count, or nil.
func (r *round) forward(ctx context.Context, sealed []forwardedReport) (reasons []error, got receipt, err error) {
	reasons = make([]error, len(sealed))
	var accepted, duplicates atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < len(sealed); first += partReports {
		end := min(first+partReports, len(sealed))
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil { // nobody else would: this is no handler of a call
					err = fmt.Errorf("%w: panic: %v", errInterrupted, p)
				}
			}()
			got, err := r.forwardPart(ctx, sealed[first:end], reasons[first:end])
			accepted.Add(got.accepted)
			duplicates.Add(got.duplicates)
			return err
		})
	}
	err = group.Wait()
	return reasons, receipt{accepted.Load(), duplicates.Load()}, err
}

func (r *round) forwardPart(ctx context.Context, sealed []forwardedReport, reasons []error) (got receipt, err error) {
	units, err := r.unseal(ctx, sealed, reasons)
	// What has the key of another unit is decided after it, when it is known whether that one counts.
	for err == nil && len(units) > 0 {
		var once []unit
		var more receipt
		once, units = apart(units)
		more, err = r.submit(ctx, once, func(u unit, why error) { reasons[u.place] = why })
		got.accepted += more.accepted
		got.duplicates += more.duplicates
	}
	return got, err
}

// unseal returns the units in sealed reports that can be opened.
func (r *round) unseal(ctx context.Context, sealed []forwardedReport, reasons []error) ([]unit, error) {
	units := make([]unit, 0, len(sealed))
	for i, s := range sealed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u, err := r.sealing.open(s)
		if err != nil {
			reasons[i] = err
			continue
		}
		u.place = i
		units = append(units, u)
	}
	return units, nil
}
