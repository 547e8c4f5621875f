package hdsum

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Sums is what the shuffler hands on: the sum of all messages of each instance.
// It is not safe for concurrent use.
type Sums struct {
	layout *layout
	values []int64 // by instance; residues modulo q with BBGN
}

// NewSums returns empty sums of all instances.
func (l *layout) NewSums() *Sums { return &Sums{layout: l, values: make([]int64, l.instances)} }

// check returns an error wrapping fl.ErrBadReport for a multiset that no client
// sends: entries out of order, unknown instances, values outside the alphabet of
// their instance, or the wrong number of shares. O(instances + entries).
func (l *layout) check(m Multiset) error {
	for i := 1; i < len(m); i++ {
		if compareMessages(m[i-1], m[i]) >= 0 {
			return bad("entry %d: got instance %d, value %d, must increase strictly", i, m[i].Instance, m[i].Value)
		}
	}
	at := 0
	for i := range l.groups {
		g := &l.groups[i]
		end := at
		for end < len(m) && int(m[end].Instance) < g.first+g.count {
			end++
		}
		mine := m[at:end]
		at = end
		var err error
		if g.protocol.bbgn != nil {
			err = g.checkShares(mine)
		} else {
			err = g.checkValues(mine)
		}
		if err != nil {
			return err
		}
	}
	if at < len(m) {
		return bad("instance: got %d, must be below %d", m[at].Instance, l.instances)
	}
	return nil
}

func (g *group) checkValues(m Multiset) error {
	bound := g.protocol.gkmps.Bound()
	for _, message := range m {
		if message.Value == 0 || message.Value > bound || message.Value < -bound || message.Count < 1 || message.Count > maxCount {
			return bad("instance %d: got %d times %d, must be values in ±%d without 0", message.Instance, message.Count, message.Value, bound)
		}
	}
	return nil
}

func (g *group) checkShares(m Multiset) error {
	modulus, want := int64(g.protocol.bbgn.Modulus()), int64(g.protocol.bbgn.Messages())
	at := 0
	for instance := g.first; instance < g.first+g.count; instance++ {
		var got int64
		for ; at < len(m) && int(m[at].Instance) == instance; at++ {
			if v := m[at].Value; v < 0 || v >= modulus || m[at].Count < 1 || m[at].Count > want {
				return bad("instance %d: got %d times %d, must be at most %d shares in [0, %d)", instance, m[at].Count, v, want, modulus)
			}
			got += m[at].Count
		}
		if got != want {
			return bad("instance %d: got %d shares, must be %d", instance, got, want)
		}
	}
	return nil
}

// Add adds one client's messages. On error, which wraps fl.ErrBadReport, nothing
// has changed.
func (s *Sums) Add(m Multiset) error {
	if err := s.layout.check(m); err != nil {
		return err
	}
	s.add(m)
	return nil
}

// add adds messages that have been checked. GKMPS sums wrap modulo 2^64, which
// only a client that claims absurd counts can bring about.
func (s *Sums) add(m Multiset) {
	at := 0
	for i := range s.layout.groups {
		g := &s.layout.groups[i]
		for ; at < len(m) && int(m[at].Instance) < g.first+g.count; at++ {
			v := &s.values[m[at].Instance]
			if g.protocol.bbgn == nil {
				*v += m[at].Value * m[at].Count
				continue
			}
			for range m[at].Count { // at most a few dozen
				*v = g.protocol.add(*v, m[at].Value)
			}
		}
	}
}

// Merge adds what other holds; other stays as it is. Both must come from one
// protocol.
func (s *Sums) Merge(other *Sums) error {
	if s.layout != other.layout {
		return fmt.Errorf("hdsum: merge: %w", fl.Invalid("sums", "those of another protocol", "must come from the same one"))
	}
	s.merge(other.values)
	return nil
}

func (s *Sums) merge(values []int64) {
	for i := range s.layout.groups {
		g := &s.layout.groups[i]
		for k := g.first; k < g.first+g.count; k++ {
			s.values[k] = g.protocol.add(s.values[k], values[k])
		}
	}
}

// decode returns the estimate of every instance.
func (s *Sums) decode() []float64 {
	out := make([]float64, len(s.values))
	for i := range s.layout.groups {
		g := &s.layout.groups[i]
		for k := g.first; k < g.first+g.count; k++ {
			out[k] = g.protocol.decode(s.values[k])
		}
	}
	return out
}

// checkResidues refuses what no sum modulo q is.
func (s *Sums) checkResidues() error {
	for i := range s.layout.groups {
		g := &s.layout.groups[i]
		if g.protocol.bbgn == nil {
			continue
		}
		modulus := int64(g.protocol.bbgn.Modulus())
		for k := g.first; k < g.first+g.count; k++ {
			if v := s.values[k]; v < 0 || v >= modulus {
				return fmt.Errorf("instance %d: got %d, must be in [0, %d)", k, v, modulus)
			}
		}
	}
	return nil
}
