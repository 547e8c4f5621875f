package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/internal/overview"
	"github.com/hushgrad/hushgrad/server/journal"
)

// store holds the rounds by id. Closed rounds beyond the limit are forgotten,
// but their ids stay taken.
type store struct {
	journal       *keeper.Prober
	maxOpen, keep int

	mu     sync.Mutex
	rounds map[string]*round
	order  []*round      // oldest first
	past   overview.Past // forgotten rounds
}

// open adds a round to the journal and the log and starts its clock, unless its id was used before. A round
// that the log cannot take is not opened, and its id stays taken: the log may have it.
func (s *store) open(r *round) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.free(r.description.ID); err != nil {
		return err
	}
	if r.log != nil && r.log.HasRound(r.description.ID) { // a backup of the journal does not know it
		return because(errUsedBefore, "id", r.description.ID, "must be new: the log has a round of this id")
	}
	var b journal.Batch
	if err := r.head().put(&b); err != nil {
		return err
	}
	if r.twoServers() {
		b.Put(r.key("releases"), []byte(r.releases.ID()))
	}
	if err := s.journal.Commit(&b); err != nil {
		return err
	}
	if err := r.announce(); err != nil {
		var undo journal.Batch
		return errors.Join(err, s.forget(&undo, r.description), s.journal.Commit(&undo))
	}
	s.add(r)
	r.startClock()
	return nil
}

// free returns an error when there is no room for another round, or its id was used before. The
// caller holds s.mu.
func (s *store) free(id string) error {
	_, err := s.journal.Get([]byte(usedPrefix + id))
	switch {
	case s.rounds[id] != nil || err == nil:
		return because(errUsedBefore, "id", id, "must be new")
	case !errors.Is(err, journal.ErrNotFound):
		return err
	}
	open := 0
	for _, other := range s.order {
		if !other.settled() {
			open++
		}
	}
	if open >= s.maxOpen {
		return because(errLimit, "open_rounds", open+1, "must be at most %d", s.maxOpen)
	}
	return nil
}

func (s *store) add(r *round) {
	s.rounds[r.description.ID] = r
	at, _ := slices.BinarySearchFunc(s.order, r, func(a, b *round) int {
		return cmp.Or(a.opened.Compare(b.opened), -1) // after rounds of the same time
	})
	s.order = slices.Insert(s.order, at, r)
}

// restored adds a round that came from the journal.
func (s *store) restored(r *round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(r)
	if r.settled() {
		return
	}
	r.startClock()
	if r.full() {
		r.stop("target reached")
	}
}

// find returns the round with that id, or the newest open one for "".
func (s *store) find(id string) (*round, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		for _, r := range slices.Backward(s.order) {
			if !r.settled() {
				return r, nil
			}
		}
		return nil, because(errNotFound, "round_id", "", "some round must be open")
	}
	if r := s.rounds[id]; r != nil {
		return r, nil
	}
	return nil, because(errNotFound, "round_id", id, "must be a round of this server")
}

// described returns the round with that id, if the caller knows it by the same description.
func (s *store) described(id string, digest []byte) (*round, error) {
	if id == "" {
		return nil, fl.Invalid("round_id", "", "is required")
	}
	r, err := s.find(id)
	switch {
	case err != nil:
		return nil, err
	case len(digest) != len(r.digest):
		return nil, fl.Invalid("round_digest", fmt.Sprintf("%d bytes", len(digest)), "must have %d", len(r.digest))
	case !bytes.Equal(digest, r.digest[:]):
		return nil, because(errOtherRound, "round_digest", fmt.Sprintf("%x", digest), "must be %x", r.digest)
	}
	return r, nil
}

// all returns the remembered rounds, oldest first.
func (s *store) all() []*round {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

// forget leaves of a round nothing but that its id was used.
func (*store) forget(b *journal.Batch, r fl.Round) error {
	below(b, roundKey(r.ID, ""))
	b.Delete(headKey(r.ID), append(headKey(r.ID), 0))
	description, err := r.MarshalBinary()
	b.Put([]byte(usedPrefix+r.ID), description)
	return err
}

// trim forgets the oldest rounds that have ended, beyond the limit. The error is about the
// journal, which still has them.
func (s *store) trim() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := 0
	for _, r := range s.order {
		if r.settled() {
			ended++
		}
	}
	var b journal.Batch
	var forgotten []fl.Round
	forget := func(r *round) bool {
		if ended <= s.keep || !r.settled() {
			return false
		}
		ended--
		_ = s.forget(&b, r.description) // it was valid when it was opened
		forgotten = append(forgotten, r.description)
		return true
	}
	kept := slices.DeleteFunc(slices.Clone(s.order), forget)
	if len(kept) == len(s.order) {
		return nil
	}
	if err := s.journal.Commit(&b); err != nil {
		return err
	}
	for _, r := range forgotten {
		s.past.Add(r)
		delete(s.rounds, r.ID)
	}
	s.order = kept
	return nil
}

// states returns the number of rounds that are kept, by state.
func (s *store) states() map[string]int {
	counts := map[string]int{}
	for state := range service.RoundState_name {
		if state := service.RoundState(state); state != service.RoundState_ROUND_STATE_UNSPECIFIED {
			counts[stateName(state)] = 0
		}
	}
	for _, r := range s.all() {
		counts[stateName(r.head().state)]++
	}
	return counts
}

// stateName is open for ROUND_STATE_OPEN.
func stateName(s service.RoundState) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "ROUND_STATE_"))
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
		if r.UnmarshalBinary(pair.Value) != nil {
			s.past.Unknown++ // it is of no use to refuse to start
			continue
		}
		s.past.Add(r)
	}
	return nil
}
