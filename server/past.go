package server

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Kind is a number of rounds that promise their clients the same.
type Kind struct {
	// Round describes them all. Its ID, PublicSeed, Deadline, TargetReports, IssuerKey and
	// OuterIssuerKey are no round's.
	Round fl.Round
	Count int
}

// maxKinds bounds the kinds of rounds that a server counts one by one.
const maxKinds = 256

// past counts rounds by their kind. The zero value has none.
type past struct {
	kinds   []Kind
	index   map[[32]byte]int
	unknown int // rounds of a kind that is not known
}

// add counts a round and returns the index of its kind, or −1 if it cannot be told apart.
func (p *past) add(r fl.Round) int {
	r.ID, r.PublicSeed, r.Deadline, r.TargetReports, r.IssuerKey, r.OuterIssuerKey = "kind", [32]byte{1}, time.Time{}, 0, nil, nil
	canonical, err := r.MarshalBinary()
	key := sha256.Sum256(canonical)
	at, known := p.index[key]
	if err != nil || !known && len(p.kinds) == maxKinds {
		p.unknown++
		return -1
	}
	if !known {
		if p.index == nil {
			p.index = map[[32]byte]int{}
		}
		at = len(p.kinds)
		p.index[key] = at
		p.kinds = append(p.kinds, Kind{Round: r})
	}
	p.kinds[at].Count++
	return at
}

// clone returns a copy that can be added to.
func (p *past) clone() *past {
	c := &past{kinds: slices.Clone(p.kinds), index: map[[32]byte]int{}, unknown: p.unknown}
	for key, at := range p.index {
		c.index[key] = at
	}
	return c
}

// recoverPast counts the forgotten rounds that the journal has.
func (s *store) recoverPast() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for pair, err := range s.journal.Scan([]byte(usedPrefix), journal.After([]byte(usedPrefix))) {
		if err != nil {
			return err
		}
		var r fl.Round
		if len(pair.Value) == 0 || r.UnmarshalBinary(pair.Value) != nil {
			s.past.unknown++ // forgotten by an older server
			continue
		}
		s.past.add(r)
	}
	return nil
}
