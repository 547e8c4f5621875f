package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
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
	return &service.GetRoundResponse{Status: r.status()}, nil
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
		duplicate, err := s.submit(stream.Context(), req)
		if err != nil {
			s.cfg.Logger.Debug("batch refused", "round", req.GetRoundId(), "batch", batch, "error", err)
			return s.fail("SubmitReports", fmt.Errorf("batch %d: %w", batch, err), "")
		}
		if n := uint64(len(req.GetReports())); duplicate {
			resp.Duplicates += n
		} else {
			resp.Accepted += n
		}
	}
}

// submit counts one batch.
func (s roundsService) submit(ctx context.Context, req *service.SubmitReportsRequest) (duplicate bool, err error) {
	r, err := s.rounds.find(req.GetRoundId())
	switch {
	case req.GetRoundId() == "":
		return false, fl.Invalid("round_id", "", "is required")
	case err != nil:
		return false, err
	case len(req.GetBatchKey()) < 16 || len(req.GetBatchKey()) > 64:
		return false, fl.Invalid("batch_key", fmt.Sprintf("%d bytes", len(req.GetBatchKey())), "must have 16 to 64")
	case len(req.GetReports()) == 0:
		return false, fl.Invalid("reports", "nothing", "at least one is required")
	case len(req.GetRoundDigest()) != len(r.digest):
		return false, fl.Invalid("round_digest", fmt.Sprintf("%d bytes", len(req.GetRoundDigest())), "must have %d", len(r.digest))
	case !bytes.Equal(req.GetRoundDigest(), r.digest[:]):
		return false, because(errOtherRound, "round_digest", fmt.Sprintf("%x", req.GetRoundDigest()), "must be %x", r.digest)
	}
	return r.submit(ctx, string(req.GetBatchKey()), req.GetReports())
}
