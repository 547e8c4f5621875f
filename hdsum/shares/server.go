package shares

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/idset"
)

// server implements fl.ShareAggregator: the sum of one server.
type server struct {
	mechanism *mechanism
	side      fl.ShareSide
	total
	ids idset.Digest
}

// NewShareAggregator implements fl.SharedMechanism. It takes 8·d' + 2048 bytes.
func (m *mechanism) NewShareAggregator(side fl.ShareSide) (fl.ShareAggregator, error) {
	if side != fl.FirstServer && side != fl.SecondServer {
		return nil, fmt.Errorf("%s: %w", Name, fl.Invalid("side", side, "must be %d or %d", fl.FirstServer, fl.SecondServer))
	}
	return &server{mechanism: m, side: side, total: m.newTotal()}, nil
}

// checkShare refuses what no client sends to a server.
func (m *mechanism) checkShare(side fl.ShareSide, share []byte) error {
	if want := m.ShareBytes(side); len(share) != want {
		return bad("share", fmt.Sprintf("%d bytes", len(share)), "must have %d", want)
	}
	if side == fl.SecondServer && !m.ring.wellFormed(share) {
		return bad("share", fmt.Sprintf("last byte %#x", share[len(share)-1]), "must end with zeros behind %d numbers of %d bits", m.ring.length, m.ring.bits)
	}
	return nil
}

// Add implements fl.ShareAggregator. O(d').
func (s *server) Add(id, share []byte) error {
	if len(id) < 1 || len(id) > fl.MaxShareIDBytes {
		return bad("id", fmt.Sprintf("%d bytes", len(id)), "must have 1 to %d", fl.MaxShareIDBytes)
	}
	if err := s.mechanism.checkShare(s.side, share); err != nil {
		return err
	}
	ring := s.mechanism.ring
	if s.side == fl.FirstServer {
		share = ring.expand(share)
	}
	ring.add(s.sums, share)
	s.reports++
	s.ids.Add(id)
	return nil
}

func (s *server) Merge(other fl.ShareAggregator) error {
	o, ok := other.(*server)
	if !ok || s.mechanism.round.CheckSame(o.mechanism.round) != nil || o.side != s.side {
		return fmt.Errorf("%s: merge: %w", Name, fl.Invalid("aggregator", "one of another round or server", "must belong to the same round and server"))
	}
	s.merge(&o.total)
	ids := o.ids // other may be s
	s.ids.Merge(&ids)
	return nil
}

// Release implements fl.ShareAggregator.
func (s *server) Release() ([]byte, error) {
	if err := s.mechanism.round.CheckReports(s.reports); err != nil {
		return nil, fmt.Errorf("%s: release: %w", Name, err)
	}
	return s.MarshalBinary()
}

func (s *server) MarshalBinary() ([]byte, error) {
	return s.mechanism.encode(s.side, &s.total, &s.ids)
}

func (s *server) UnmarshalBinary(data []byte) error {
	t, ids, err := s.mechanism.decode(s.side, data)
	if err != nil {
		return fmt.Errorf("%s: share aggregator snapshot: %w", Name, err)
	}
	s.total, s.ids = t, ids
	return nil
}

// Combine implements fl.SharedMechanism. O(d' log d').
func (m *mechanism) Combine(first, second []byte) (*fl.Estimate, error) {
	e, err := m.combine(first, second)
	if err != nil {
		return nil, fmt.Errorf("%s: combine: %w", Name, err)
	}
	return e, nil
}

func (m *mechanism) combine(first, second []byte) (*fl.Estimate, error) {
	sum, ids, err := m.decode(fl.FirstServer, first)
	if err != nil {
		return nil, fmt.Errorf("first server: %w", err)
	}
	other, otherIDs, err := m.decode(fl.SecondServer, second)
	switch {
	case err != nil:
		return nil, fmt.Errorf("second server: %w", err)
	case sum.reports != other.reports:
		return nil, fmt.Errorf("%w: %w", fl.ErrUnmatched, fl.Invalid("reports", other.reports, "must be the first server's, %d", sum.reports))
	case ids != otherIDs:
		return nil, fmt.Errorf("%w: %w", fl.ErrUnmatched, fl.Invalid("ids", "another set", "must be the ids of the first server's %d reports", sum.reports))
	}
	reports := sum.reports
	sum.merge(&other)
	sum.reports = reports
	return m.estimate(&sum)
}
