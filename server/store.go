package server

import (
	"fmt"
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
		return fmt.Errorf("round.id: got %q, rule: must be new: %w", id, errUsedBefore)
	}
	open := 0
	for _, other := range s.order {
		if !other.settled() {
			open++
		}
	}
	if open >= s.maxOpen {
		return fmt.Errorf("open rounds: got %d, rule: at most %d: %w", open+1, s.maxOpen, errLimit)
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
		return nil, fmt.Errorf("round_id: got \"\", rule: some round must be open: %w", errNotFound)
	}
	if r := s.rounds[id]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("round_id: got %q, rule: must be a round of this server: %w", id, errNotFound)
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
