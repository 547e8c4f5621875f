package server

import (
	"context"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

// operatorService implements the operator's half of the API.
type operatorService struct {
	service.UnimplementedOperatorServer
	*Server
}

func (s operatorService) OpenRound(ctx context.Context, req *service.OpenRoundRequest) (_ *service.OpenRoundResponse, failed error) {
	defer s.audit(ctx, "OpenRound", req.GetRound().GetId(), &failed)
	r, m, err := s.open(ctx, req)
	if err != nil {
		return nil, s.fail("OpenRound", err, "round")
	}
	d := r.description
	r.logger.Info("round open", "dim", d.Dim, "guarantee", m.Guarantee().String(), "min_reports", d.MinReports, "target_reports", d.TargetReports)
	if a, ok := m.(fl.Adviser); ok {
		for _, advice := range a.Advice() {
			r.logger.Warn("round could be more accurate", "advice", advice)
		}
	}
	return &service.OpenRoundResponse{Round: d.Proto()}, nil
}

// open completes and checks a round and starts it.
func (s operatorService) open(ctx context.Context, req *service.OpenRoundRequest) (*round, fl.Mechanism, error) {
	description, err := fl.RoundFromPartialProto(req.GetRound())
	if err != nil {
		return nil, nil, err
	}
	if description.PublicSeed == [32]byte{} {
		description.PublicSeed = fl.NewPublicSeed()
	}
	if description.Dim > s.cfg.MaxDim {
		return nil, nil, fl.Invalid("dim", description.Dim, "must be at most %d on this server", s.cfg.MaxDim)
	}
	s.opening.RLock() // the key stays until the round is open
	defer s.opening.RUnlock()
	if err := chooseKey(&description, s.cfg.Seal); err != nil {
		return nil, nil, err
	}
	description, m, err := s.complete(ctx, description)
	if err != nil {
		return nil, nil, err
	}
	if _, shared := m.(fl.SharedMechanism); shared && description.Shuffler == "" {
		return nil, nil, fl.Invalid("mechanism", description.Mechanism, "must be one whose reports go to one server, or the round must have a shuffler")
	}
	if now := time.Now(); !description.Deadline.IsZero() && !description.Deadline.After(now) {
		return nil, nil, fl.Invalid("deadline", description.Deadline, "must lie in the future: here it is %s", now.UTC().Format(time.RFC3339))
	}
	r, err := newRound(head{round: description, opened: time.Now()}, m, s.Server)
	if err == nil {
		err = r.checkReportSize(s.cfg.MaxMessageBytes)
	}
	if err == nil && s.releases.Check(r.digest) != nil {
		err = fl.Invalid("id", description.ID, "must be another: %v", s.releases.Check(r.digest))
	}
	if err == nil {
		err = s.openCounters(ctx, r)
	}
	if err != nil {
		return nil, nil, err
	}
	return r, m, s.rounds.open(r)
}

// complete is fl.Complete, which may take seconds for a large dim. It returns when ctx ends. The
// computation is then left to end by itself, and the next one waits for it.
func (s operatorService) complete(ctx context.Context, r fl.Round) (fl.Round, fl.Mechanism, error) {
	select {
	case s.completing <- struct{}{}:
	case <-ctx.Done():
		return fl.Round{}, nil, ctx.Err()
	}
	var completed fl.Round
	var m fl.Mechanism
	done := make(chan error, 1)
	go func() {
		err := errInterrupted // stays so if the mechanism panics
		defer func() {
			if p := recover(); p != nil {
				s.cfg.Logger.Error("panic", "method", "OpenRound", "panic", p, "stack", string(debug.Stack()))
			}
			<-s.completing
			done <- err
		}()
		completed, m, err = fl.Complete(r)
	}()
	select {
	case err := <-done:
		return completed, m, err
	case <-ctx.Done():
		return fl.Round{}, nil, ctx.Err()
	}
}

// checkReportSize refuses rounds whose reports, or whose second server's sum, could never arrive.
func (r *round) checkReportSize(maxMessageBytes int) error {
	const envelope = 1 << 10 // the other fields of a SubmitReportsRequest
	size := 0
	if r.sealing != nil {
		size = r.sealing.format.Sealed
	} else if sized, ok := r.mechanism.(fl.ReportSizer); ok {
		size = sized.ReportBytes()
	}
	if r.twoServers() {
		const rest = 4 << 10 // of a sum, which is as long as a share otherwise
		size = max(size, r.sealing.format.Second+rest)
	}
	if size > maxMessageBytes-envelope {
		return fl.Invalid("dim", r.description.Dim, "must leave a report, or the second server's sum, (%d bytes) below the message limit of %d bytes", size, maxMessageBytes)
	}
	return nil
}

func (s operatorService) CloseRound(ctx context.Context, req *service.CloseRoundRequest) (_ *service.CloseRoundResponse, failed error) {
	defer s.audit(ctx, "CloseRound", req.GetRoundId(), &failed)
	r, err := s.named(req.GetRoundId())
	if err == nil {
		err = r.close(ctx)
	}
	if err != nil {
		return nil, s.fail("CloseRound", err, "")
	}
	return &service.CloseRoundResponse{Status: r.head().status()}, nil
}

func (s operatorService) AbortRound(ctx context.Context, req *service.AbortRoundRequest) (_ *service.AbortRoundResponse, failed error) {
	defer s.audit(ctx, "AbortRound", req.GetRoundId(), &failed)
	r, err := s.named(req.GetRoundId())
	if err == nil {
		err = r.abort(ctx)
	}
	if err != nil {
		return nil, s.fail("AbortRound", err, "")
	}
	return &service.AbortRoundResponse{Status: r.head().status()}, nil
}

func (s operatorService) ListRounds(_ *service.ListRoundsRequest, stream grpc.ServerStreamingServer[service.ListRoundsResponse]) error {
	for _, r := range s.rounds.all() {
		if err := stream.Send(&service.ListRoundsResponse{Status: r.head().status()}); err != nil {
			return err
		}
	}
	return nil
}

// named finds a round by an id that must not be empty.
func (s operatorService) named(id string) (*round, error) {
	if id == "" {
		return nil, fl.Invalid("round_id", "", "is required")
	}
	return s.rounds.find(id)
}
