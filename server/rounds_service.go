package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/internal/service"
)

// roundsService implements the clients' half of the API.
type roundsService struct {
	service.UnimplementedRoundsServer
	*Server
}

func (s roundsService) GetRound(_ context.Context, req *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	r, err := s.rounds.find(req.GetRoundId())
	if err != nil {
		return nil, s.fail("GetRound", err, "")
	}
	resp := &service.GetRoundResponse{Status: r.status()}
	if s.log != nil {
		if resp.LogProof, err = s.log.Proof(r.digest); err != nil {
			return nil, s.fail("GetRound", err, "")
		}
	}
	return resp, nil
}

func (s roundsService) SubmitReports(stream grpc.ClientStreamingServer[service.SubmitReportsRequest, service.SubmitReportsResponse]) error {
	var resp service.SubmitReportsResponse
	for batch := 0; ; batch++ {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&resp)
		}
		if err != nil {
			return err // gRPC's own: a broken stream, or a message above the limit
		}
		got, err := s.submit(stream.Context(), req)
		if err != nil {
			s.metrics.refused(err)
			s.cfg.Logger.Debug("batch refused", "round", req.GetRoundId(), "batch", batch, "error", err)
			return s.fail("SubmitReports", fmt.Errorf("batch %d: %w", batch, err), "")
		}
		s.metrics.counted(got, req)
		resp.Accepted += uint64(got.accepted)
		resp.Duplicates += uint64(got.duplicates)
	}
}

// submit counts one batch.
func (s roundsService) submit(ctx context.Context, req *service.SubmitReportsRequest) (receipt, error) {
	r, err := s.rounds.described(req.GetRoundId(), req.GetRoundDigest())
	switch {
	case err != nil:
		return receipt{}, err
	case r.shuffled():
		return receipt{}, because(errShuffled, "round_id", req.GetRoundId(), "must have no shuffler: reports go to %s", r.description.Shuffler)
	case r.settled(): // it has no mechanism any more
		return receipt{}, because(errClosed, "round_id", req.GetRoundId(), "must be open")
	}
	units, err := r.units(req)
	if err != nil {
		return receipt{}, err
	}
	return r.submit(ctx, units, nil)
}
