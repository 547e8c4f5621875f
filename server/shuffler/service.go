package shuffler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rpcstatus"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/internal/crowd"
	"github.com/hushgrad/hushgrad/server/internal/model"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Register adds the clients' service to a gRPC server.
func (s *Shuffler) Register(r grpc.ServiceRegistrar) {
	service.RegisterRounds(r, roundsService{Shuffler: s})
}

var statuses = rpcstatus.Table{
	{Err: errEnded, Code: codes.FailedPrecondition},
	{Err: errOtherRound, Code: codes.FailedPrecondition},
	{Err: errOtherShuffler, Code: codes.FailedPrecondition},
	{Err: errNotFound, Code: codes.NotFound},
	{Err: model.ErrNone, Code: codes.NotFound},
	{Err: model.ErrRetired, Code: codes.Aborted},
	{Err: errLimit, Code: codes.ResourceExhausted},
	{Err: admit.ErrToken, Code: codes.Unauthenticated},
	{Err: errSpent, Code: codes.AlreadyExists},
	{Err: journal.ErrFull, Code: codes.ResourceExhausted},
	{Err: journal.ErrFailed, Code: codes.Unavailable, Brief: true},
	{Err: errNoSecret, Code: codes.Unavailable},
	{Err: errNoServer, Code: codes.Unavailable},
	{Err: context.Canceled, Code: codes.Canceled},
	{Err: context.DeadlineExceeded, Code: codes.DeadlineExceeded},
}

// fail returns the status of an error, and logs errors that are unforeseen.
func (s *Shuffler) fail(method string, err error) error {
	st, unforeseen := statuses.Of(err, "")
	if unforeseen {
		s.cfg.Logger.Error("internal error", "method", method, "error", err)
	}
	return st
}

// roundsService implements the clients' service.
type roundsService struct {
	service.UnimplementedRoundsServer
	*Shuffler
}

func (s roundsService) GetRound(ctx context.Context, req *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	resp, err := s.shown(ctx, req.GetRoundId())
	if err != nil {
		return nil, s.fail("GetRound", err)
	}
	return resp, nil
}

// shown describes a round for clients, with the server's proof that it is in the log. A round that is being
// forwarded is shown as closed.
func (s roundsService) shown(ctx context.Context, id string) (*service.GetRoundResponse, error) {
	if id != "" {
		if err := checkRoundID(id); err != nil {
			return nil, err
		}
	}
	st, err := s.upstream.round(ctx, id)
	if err != nil {
		if r := s.known(id); r != nil && errors.Is(err, errNoServer) {
			return r.shown(), nil // reports are kept until the server answers
		}
		return nil, err
	}
	if st.round.Shuffler != s.cfg.Name {
		return nil, because(errOtherShuffler, "shuffler", st.round.Shuffler, "must be %q", s.cfg.Name)
	}
	end, err := s.ended(st.round.ID)
	switch {
	case err != nil:
		return nil, err
	case end == expired:
		return st.shown(&service.RoundStatus{Round: st.round.Proto(), State: service.RoundState_ROUND_STATE_EXPIRED}), nil
	case st.state != service.RoundState_ROUND_STATE_OPEN:
		return st.shown(&service.RoundStatus{Round: st.round.Proto(), State: st.state, Reports: st.reports}), nil
	}
	r, err := s.adopt(ctx, st.round)
	if err != nil {
		return nil, err
	}
	if r.digest != st.digest {
		return nil, r.otherRound(st.digest[:])
	}
	r.proof.Store(&st.proof)
	return r.shown(), nil
}

// shown adds what the server has proved of the round.
func (st standing) shown(status *service.RoundStatus) *service.GetRoundResponse {
	return &service.GetRoundResponse{Status: status, LogProof: st.proof}
}

// shown describes a round that has not ended, with the last proof of the server.
func (r *round) shown() *service.GetRoundResponse {
	resp := &service.GetRoundResponse{Status: r.status()}
	if proof := r.proof.Load(); proof != nil {
		resp.LogProof = *proof
	}
	return resp
}

// status describes a round that has not ended.
func (r *round) status() *service.RoundStatus {
	st := &service.RoundStatus{
		Round: r.description.Proto(), State: service.RoundState_ROUND_STATE_OPEN, Reports: uint64(crowd.Bucket(r.held.Load())),
	}
	if r.now() != phaseOpen {
		st.State = service.RoundState_ROUND_STATE_CLOSED
	}
	return st
}

func (r *round) otherRound(digest []byte) error {
	return because(errOtherRound, "round_digest", fmt.Sprintf("%x", digest), "must be %x", r.digest)
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
			err = s.fail("SubmitReports", fmt.Errorf("batch %d: %w", batch, err))
			s.metrics.refused(err)
			return err
		}
		s.metrics.kept(got)
		resp.Accepted += uint64(got.accepted)
		resp.Duplicates += uint64(got.duplicates)
	}
}

// submit keeps the reports of one message.
func (s roundsService) submit(ctx context.Context, req *service.SubmitReportsRequest) (receipt, error) {
	switch {
	case len(req.GetBatchKey()) > 0:
		return receipt{}, fl.Invalid("batch_key", fmt.Sprintf("%d bytes", len(req.GetBatchKey())), "must be empty: the round has a shuffler")
	case len(req.GetRoundDigest()) != 32:
		return receipt{}, fl.Invalid("round_digest", fmt.Sprintf("%d bytes", len(req.GetRoundDigest())), "must have 32")
	}
	r, err := s.find(ctx, req.GetRoundId())
	if err != nil {
		return receipt{}, err
	}
	if !bytes.Equal(req.GetRoundDigest(), r.digest[:]) {
		return receipt{}, r.otherRound(req.GetRoundDigest())
	}
	return r.submit(ctx, req.GetReports(), req.GetTokens())
}
