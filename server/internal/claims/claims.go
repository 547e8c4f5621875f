// Package claims keeps two calls from deciding about one key at a time. Use it where a call looks
// whether something was counted before, and then counts it. Start with [Set.Take].
package claims

import (
	"context"
	"sync"
)

// Set is the keys that calls are deciding about. The zero value has none. It is safe for concurrent
// use.
type Set[K comparable] struct {
	mu    sync.Mutex
	byKey map[K]chan struct{} // closed when the call has decided
}

// Take claims all keys of a call, one of which may stand there twice, until release is called. It
// waits while another call has claimed one of them, and meanwhile claims none.
func (s *Set[K]) Take(ctx context.Context, keys []K) (release func(), err error) {
	mine := make(chan struct{})
	for {
		other := s.add(keys, mine)
		if other == nil {
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.drop(keys, mine)
				close(mine)
			}, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// add claims all keys for a call, or returns a call that has claimed one of them.
func (s *Set[K]) add(keys []K, mine chan struct{}) (other chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil {
		s.byKey = map[K]chan struct{}{}
	}
	for _, key := range keys {
		if theirs := s.byKey[key]; theirs != nil && theirs != mine {
			s.drop(keys, mine)
			return theirs
		}
		s.byKey[key] = mine
	}
	return nil
}

func (s *Set[K]) drop(keys []K, mine chan struct{}) {
	for _, key := range keys {
		if s.byKey[key] == mine {
			delete(s.byKey, key)
		}
	}
}
