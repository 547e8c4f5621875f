//go:build cgo

package main

import (
	"context"
	"sync"

	"github.com/hushgrad/hushgrad/bridge/internal/abi"
)

// sessions are the open ones of this process by their number. The zero value has none.
type sessions struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]*session
}

// session is an abi.Session for several threads.
type session struct {
	mu     sync.Mutex
	closed bool
	*abi.Session
}

// add opens a session and returns its number, which is never 0.
func (s *sessions) add() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[uint64]*session{}
	}
	s.last++
	s.open[s.last] = &session{Session: abi.NewSession()}
	return s.last
}

// call answers a request, unless there is no such session.
func (s *sessions) call(number uint64, header, payload []byte) (answer, out []byte, found bool) {
	s.mu.Lock()
	one, found := s.open[number]
	s.mu.Unlock()
	if !found {
		return nil, nil, false
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.closed { // by another thread meanwhile
		return nil, nil, false
	}
	answer, out = one.Call(context.Background(), header, payload)
	return answer, out, true
}

// remove closes a session after the call that it is at.
func (s *sessions) remove(number uint64) {
	s.mu.Lock()
	one, found := s.open[number]
	delete(s.open, number)
	s.mu.Unlock()
	if found {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.closed = true
		one.Close()
	}
}
