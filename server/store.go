package server

import (
	"slices"
	"sync"
)

// store holds the rounds by id. Closed rounds beyond the limit are forgotten,
// but their ids stay taken.
type store struct {
	maxOpen, keep int

	mu     sync.Mutex
	rounds map[string]*round // nil: known once, forgotten
	order  []*round          // remembered rounds, oldest first
}

// open adds a round and starts its clock, unless its id was used before.
func (s *store) open(r *round) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.description.ID
	if _, used := s.rounds[id]; used {
		return because(errUsedBefore, "id", id, "must be new")
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
	s.rounds[id] = r
	s.order = append(s.order, r)
	r.startClock()
	return nil
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

// trim forgets the oldest closed rounds beyond the limit.
func (s *store) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := 0
	for _, r := range s.order {
		if r.settled() {
			closed++
		}
	}
	s.order = slices.DeleteFunc(s.order, func(r *round) bool {
		if closed <= s.keep || !r.settled() {
			return false
		}
		closed--
		s.rounds[r.description.ID] = nil
		return true
	})
}
