package hdsum

import (
	"fmt"
	"sort"

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
			return bad("entry", fmt.Sprintf("instance %d, value %d at place %d", m[i].Instance, m[i].Value, i), "must increase strictly")
		}
	}
	for _, g := range l.groups {
		var own Multiset
		own, m = g.split(m)
		if err := g.sum.check(own, g.run); err != nil {
			return err
		}
	}
	if len(m) > 0 {
		return bad("instance", m[0].Instance, "must be below %d", l.instances)
	}
	return nil
}

// split returns the messages before the end of the group, and the others. m is in order.
func (g group) split(m Multiset) (own, others Multiset) {
	k := sort.Search(len(m), func(i int) bool { return int(m[i].Instance) >= g.end() })
	return m[:k], m[k:]
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

// add adds messages that have been checked.
func (s *Sums) add(m Multiset) {
	for _, g := range s.layout.groups {
		var own Multiset
		own, m = g.split(m)
		g.sum.add(s.values, own)
	}
}

// Merge adds what other holds; other stays as it is. Both must come from the NewSums of
// one sum.
func (s *Sums) Merge(other *Sums) error {
	if err := s.layout.own(other); err != nil {
		return fmt.Errorf("hdsum: merge: %w", err)
	}
	s.merge(other.values)
	return nil
}

// own refuses Sums of another sum.
func (l *layout) own(sums *Sums) error {
	if sums.layout != l {
		return fl.Invalid("sums", "Sums of another sum", "must come from NewSums of the same sum")
	}
	return nil
}

func (s *Sums) merge(values []int64) {
	for _, g := range s.layout.groups {
		g.sum.merge(s.values[g.first:g.end()], values[g.first:g.end()])
	}
}

// decode returns the estimate of every instance of l. It refuses Sums of another sum.
func (l *layout) decode(sums *Sums) ([]float64, error) {
	if err := l.own(sums); err != nil {
		return nil, fmt.Errorf("hdsum: analyze: %w", err)
	}
	out := make([]float64, len(sums.values))
	for _, g := range l.groups {
		for k := g.first; k < g.end(); k++ {
			out[k] = g.sum.decode(sums.values[k])
		}
	}
	return out, nil
}

// check refuses what no sums are.
func (s *Sums) check() error {
	for _, g := range s.layout.groups {
		for k := g.first; k < g.end(); k++ {
			if err := g.sum.checkSum(s.values[k]); err != nil {
				return fmt.Errorf("instance %d: %w", k, err)
			}
		}
	}
	return nil
}
