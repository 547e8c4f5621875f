package server

import "github.com/hushgrad/hushgrad/server/journal"

// Ready returns nil while the server can count reports, and otherwise an error that says in
// words what is wrong. The health service of Serve follows it within a second.
func (s *Server) Ready() error {
	select {
	case <-s.tasks.stopping:
		return errStopping
	default:
	}
	if err := s.journal.ready(); err != nil {
		return err
	}
	if err := journal.Room(s.journal.Journal); err != nil { // before something was refused
		return err
	}
	if s.cfg.Ready != nil {
		return s.cfg.Ready()
	}
	return nil
}
