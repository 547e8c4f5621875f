package server

import (
	"context"
	"time"

	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

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
	if s.cfg.Ready != nil {
		return s.cfg.Ready()
	}
	return nil
}

// reportHealth keeps the answers of the health service true until ctx ends.
func (s *Server) reportHealth(ctx context.Context, state *health.Server) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		answer := healthpb.HealthCheckResponse_SERVING
		if s.Ready() != nil {
			answer = healthpb.HealthCheckResponse_NOT_SERVING
		}
		state.SetServingStatus("", answer)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
