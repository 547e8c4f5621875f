package gaussian

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/internal/idset"
)

// server implements fl.ShareAggregator: the sum of one server.
type server struct {
	*total
	side    fl.ShareSide
	reports int64
	ids     idset.Digest
}

// NewShareAggregator implements fl.SharedMechanism. It takes 8·d' + 2048 bytes.
func (m *mechanism) NewShareAggregator(side fl.ShareSide) (fl.ShareAggregator, error) {
	if side != fl.FirstServer && side != fl.SecondServer {
		return nil, m.round.Wrap("share aggregator", fl.Invalid("side", side, "must be %d or %d", fl.FirstServer, fl.SecondServer))
	}
	return &server{total: m.newTotal(), side: side}, nil
}

// checkShare refuses what no client sends to a server.
func (m *mechanism) checkShare(side fl.ShareSide, share []byte) error {
	if err := m.checkLength(side, share); err != nil {
		return err
	}
	return m.sharing.check(side, share[m.head():])
}

// checkLength refuses a share of another length, or of a number of records that no client has.
func (m *mechanism) checkLength(side fl.ShareSide, share []byte) error {
	if want := m.ShareBytes(side); len(share) != want {
		return count.BadReport("share", fmt.Sprintf("%d bytes", len(share)), "must have %d", want)
	}
	return m.checkRecords(share)
}

// Add implements fl.ShareAggregator. O(d').
func (s *server) Add(id, share []byte) error {
	if len(id) < 1 || len(id) > fl.MaxShareIDBytes {
		return s.mechanism.round.Wrap("add", count.BadReport("id", fmt.Sprintf("%d bytes", len(id)), "must have 1 to %d", fl.MaxShareIDBytes))
	}
	m := s.mechanism
	err := m.checkLength(s.side, share)
	if err == nil {
		err = s.add(s.side, share)
	}
	if err != nil {
		return m.round.Wrap("add", err)
	}
	s.records += m.recordsOf(share)
	s.reports++
	s.ids.Add(id)
	return nil
}

func (s *server) Merge(other fl.ShareAggregator) error {
	o, ok := other.(*server)
	if !ok || s.mechanism.round.CheckSame(o.mechanism.round) != nil || o.side != s.side {
		return s.mechanism.round.Wrap("merge", fl.Invalid("aggregator", "one of another round or server", "must belong to the same round and server"))
	}
	s.total.Merge(o.total)
	s.reports += o.reports
	ids := o.ids // other may be s
	s.ids.Merge(&ids)
	return nil
}

// Release implements fl.ShareAggregator. The aggregator stays as it is, without the noise.
func (s *server) Release(rng *rand.Rand) ([]byte, error) {
	if err := s.mechanism.round.CheckReports(s.reports); err != nil {
		return nil, s.mechanism.round.Wrap("release", err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	noisy := &total{mechanism: s.mechanism, sum: s.sum.clone(), records: s.records}
	noisy.sum.disturb(s.mechanism.noise, rng)
	return s.mechanism.round.Snapshot(noisy.encode(nil, released(s.side), s.reports, &s.ids))
}

func (s *server) MarshalBinary() ([]byte, error) {
	return s.mechanism.round.Snapshot(s.encode(nil, s.side, s.reports, &s.ids))
}

func (s *server) UnmarshalBinary(data []byte) error {
	t, reports, ids, err := s.mechanism.read(s.side, data)
	if err != nil {
		return s.mechanism.round.Wrap("share aggregator snapshot", err)
	}
	s.total, s.reports, s.ids = t, reports, ids
	return nil
}

// read returns what a snapshot of one side holds. The error is a *fl.ParamError, wrapped.
func (m *mechanism) read(side fl.ShareSide, data []byte) (t *total, reports int64, ids idset.Digest, err error) {
	payload, err := m.round.Payload(data, m.newTotal().MaxBytes())
	if err != nil {
		return nil, 0, ids, err
	}
	return m.decode(side, payload.Rest())
}

// released marks what a server releases. A snapshot, which has no noise, is not taken for it.
func released(side fl.ShareSide) fl.ShareSide { return side | 1<<7 }

// Combine implements fl.SharedMechanism. O(d' log d').
func (m *mechanism) Combine(first, second []byte) (*fl.Estimate, error) {
	e, err := m.combine(first, second)
	if err != nil {
		return nil, m.round.Wrap("combine", err)
	}
	return e, nil
}

func (m *mechanism) combine(first, second []byte) (*fl.Estimate, error) {
	sum, reports, ids, err := m.read(released(fl.FirstServer), first)
	if err != nil {
		return nil, fmt.Errorf("first server: %w", err)
	}
	other, otherReports, otherIDs, err := m.read(released(fl.SecondServer), second)
	switch {
	case err != nil:
		return nil, fmt.Errorf("second server: %w", err)
	case reports != otherReports:
		return nil, fmt.Errorf("%w: %w", fl.ErrUnmatched, fl.Invalid("reports", otherReports, "must be the first server's, %d", reports))
	case sum.records != other.records:
		return nil, fmt.Errorf("%w: %w", fl.ErrUnmatched, fl.Invalid(fl.ParamRecords, other.records, "must be the first server's, %d", sum.records))
	case ids != otherIDs:
		return nil, fmt.Errorf("%w: %w", fl.ErrUnmatched, fl.Invalid("ids", "another set", "must be the ids of the first server's %d reports", reports))
	}
	other.records = 0 // each record has two shares
	sum.Merge(other)
	return m.estimate(sum, reports)
}
