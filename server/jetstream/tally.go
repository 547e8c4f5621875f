package jetstream

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/seal"
)

// tally is what a shard has counted of one round.
type tally struct {
	description fl.Round
	digest      [32]byte
	mechanism   fl.Mechanism
	size        int // of a sealed report
	plain       int // of the report in it
	opener      *seal.Opener
	box         *box

	sum               fl.Aggregator
	reports, rejected int64
	recent            map[id]struct{} // counted since the last snapshot; the older ones are in the journal
	head              string          // object with the ids of the last snapshot
	stored            string          // object with the sum of the last snapshot
	ended             []bool          // by lane
}

// newTally returns the tally of a round without reports. The error wraps seal.ErrNoKey for a round
// whose reports this member cannot open.
func newTally(r fl.Round, keys *seal.Keys, lanes int) (*tally, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	format, err := seal.FormatOf(r, m)
	if err != nil {
		return nil, err
	}
	if format.Token > 0 || format.Second > 0 {
		return nil, fl.Invalid("round", r.ID, "must ask for no tokens and have a mechanism for one server")
	}
	key, err := keys.Find(r.SealKey)
	if err != nil {
		return nil, err
	}
	b, err := newBox(key, digest)
	if err != nil {
		return nil, err
	}
	return &tally{
		description: r, digest: digest, mechanism: m, size: format.Sealed, plain: format.Report, opener: key.NewOpener(digest), box: b,
		sum: m.NewAggregator(), recent: map[id]struct{}{}, ended: make([]bool, lanes),
	}, nil
}

// gone reports whether all lanes say that the round has ended.
func (t *tally) gone() bool { return !slices.Contains(t.ended, false) }

// fresh is a sealed report that was not counted before.
type fresh struct {
	id     id
	sealed []byte
}

// count adds the reports of a message that were not counted before. known says which ids older
// snapshots have. After an error the tally is not what the messages say.
func (t *tally) count(ctx context.Context, body []byte, known func(id) (bool, error)) error {
	reports, err := seal.Split(body, t.size)
	if err != nil {
		return nil // no message of the shuffler: it has no reports
	}
	unseen, err := t.fresh(reports, known)
	if err != nil || len(unseen) == 0 {
		return err
	}
	if t.reports+int64(len(unseen)) > fl.MaxReports {
		t.rejected += int64(len(unseen))
		return nil
	}
	const chunk = 256
	parts := make([]part, (len(unseen)+chunk-1)/chunk)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		group.Go(func() error {
			parts[i] = t.open(ctx, unseen[i*chunk:min((i+1)*chunk, len(unseen))])
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, p := range parts {
		if err := t.add(p); err != nil {
			return err
		}
	}
	return nil
}

// fresh returns the reports that were not counted before.
func (t *tally) fresh(reports [][]byte, known func(id) (bool, error)) ([]fresh, error) {
	out := make([]fresh, 0, len(reports))
	here := make(map[id]struct{}, len(reports))
	for _, sealed := range reports {
		whole := seal.ID(sealed)
		one := id(whole[:idBytes])
		_, twice := here[one]
		_, counted := t.recent[one]
		if twice || counted {
			continue
		}
		counted, err := known(one)
		if err != nil {
			return nil, err
		}
		if !counted {
			here[one] = struct{}{}
			out = append(out, fresh{one, sealed})
		}
	}
	return out, nil
}

// part is the sum of some reports.
type part struct {
	sum      fl.Aggregator
	ids      []id
	rejected int64
}

// open opens reports and adds up those that are good.
func (t *tally) open(ctx context.Context, reports []fresh) (p part) {
	plain := make([][]byte, 0, len(reports))
	p.ids = make([]id, 0, len(reports))
	for _, r := range reports {
		if ctx.Err() != nil {
			return part{}
		}
		opened, err := t.opener.Open(r.sealed)
		if err != nil || len(opened) != t.plain {
			p.rejected++
			continue
		}
		plain, p.ids = append(plain, opened), append(p.ids, r.id)
	}
	p.sum = t.mechanism.NewAggregator()
	if guarded(func() error { return fl.AddBatch(t.mechanism, p.sum, plain) }) == nil {
		return p
	}
	return t.openEach(p, plain)
}

// openEach is the rest of open where one of the reports is none of the mechanism.
func (t *tally) openEach(all part, plain [][]byte) part {
	p := part{sum: t.mechanism.NewAggregator(), rejected: all.rejected}
	for i, report := range plain {
		one := t.mechanism.NewAggregator() // a mechanism that panics spoils this one alone
		if guarded(func() error { return one.Add(report) }) != nil || guarded(func() error { return p.sum.Merge(one) }) != nil {
			p.rejected++
			continue
		}
		p.ids = append(p.ids, all.ids[i])
	}
	return p
}

// add adds a part to the tally.
func (t *tally) add(p part) error {
	if err := guarded(func() error { return t.sum.Merge(p.sum) }); err != nil {
		return fmt.Errorf("mechanism %q: %w", t.description.Mechanism, err)
	}
	for _, one := range p.ids {
		t.recent[one] = struct{}{}
	}
	t.reports += int64(len(p.ids))
	t.rejected += p.rejected
	return nil
}

// errPanic is wrapped by the error of a mechanism that panics.
var errPanic = errors.New("the mechanism panicked")

// guarded turns a panic of a mechanism into an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return do()
}
