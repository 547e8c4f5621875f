package server

import (
	"github.com/hushgrad/hushgrad/server/internal/guard"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// Overview is overview, for tests that look from outside.
func (s *Server) Overview() overview.Overview { return s.overview() }

// HTTPLoad is the load of the listener for HTTP, for tests that look from outside.
func (s *Server) HTTPLoad() guard.Load { return s.http.Load() }
