package client

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// Operator runs rounds. It is safe for concurrent use.
type Operator struct{ api service.OperatorClient }

// NewOperator returns an operator on a connection. The connection stays the
// caller's.
func NewOperator(conn grpc.ClientConnInterface) *Operator {
	return &Operator{api: service.NewOperatorClient(conn)}
}

// OpenRound opens a round and returns it as clients will see it: parameters
// that r leaves open (those its mechanism can choose, the public seed, the
// relation) are filled by the server.
func (o *Operator) OpenRound(ctx context.Context, r fl.Round) (fl.Round, error) {
	m := r.Proto()
	if r.PublicSeed == [32]byte{} {
		m.PublicSeed = nil
	}
	resp, err := o.api.OpenRound(ctx, &service.OpenRoundRequest{Round: m})
	if err != nil {
		return fl.Round{}, fmt.Errorf("client: open round: %w", err)
	}
	opened, err := fl.RoundFromProto(resp.GetRound())
	if err != nil {
		return fl.Round{}, fmt.Errorf("client: open round: %w", err)
	}
	return opened, nil
}

// CloseRound stops a round. With fewer than min_reports reports the server
// refuses (FAILED_PRECONDITION) and the round stays open. In a round with a shuffler it asks that for
// its reports and waits until it has forwarded them, as long as ctx allows.
func (o *Operator) CloseRound(ctx context.Context, roundID string) error {
	if _, err := o.api.CloseRound(ctx, &service.CloseRoundRequest{RoundId: roundID}); err != nil {
		return fmt.Errorf("client: close round: %w", err)
	}
	return nil
}

// AbortRound ends a round without an estimate. Its reports are dropped.
func (o *Operator) AbortRound(ctx context.Context, roundID string) error {
	if _, err := o.api.AbortRound(ctx, &service.AbortRoundRequest{RoundId: roundID}); err != nil {
		return fmt.Errorf("client: abort round: %w", err)
	}
	return nil
}

// Rounds describes the rounds that the server remembers, oldest first.
func (o *Operator) Rounds(ctx context.Context) ([]*service.RoundStatus, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := o.api.ListRounds(ctx, &service.ListRoundsRequest{})
	if err != nil {
		return nil, fmt.Errorf("client: rounds: %w", err)
	}
	var rounds []*service.RoundStatus
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return rounds, nil
		}
		if err != nil {
			return nil, fmt.Errorf("client: rounds: %w", err)
		}
		rounds = append(rounds, resp.GetStatus())
	}
}

// Estimate fetches the estimate of a closed round: the mean, and the columns that the
// round asked for. With wait it waits for the round to close, as long as ctx allows.
func (o *Operator) Estimate(ctx context.Context, roundID string, wait bool) (*fl.Estimate, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := o.api.GetEstimate(ctx, &service.GetEstimateRequest{RoundId: roundID, Wait: wait})
	if err != nil {
		return nil, fmt.Errorf("client: estimate: %w", err)
	}
	e, err := receiveEstimate(stream)
	if err != nil {
		return nil, fmt.Errorf("client: estimate: %w", err)
	}
	return e, nil
}

// PutModel publishes a model and returns its version. format is a media type,
// for example "application/x-npy".
func (o *Operator) PutModel(ctx context.Context, format string, data []byte) (version uint64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := o.api.PutModel(ctx)
	if err != nil {
		return 0, fmt.Errorf("client: put model: %w", err)
	}
	if version, err = sendModel(stream, format, data); err != nil {
		return 0, fmt.Errorf("client: put model: %w", err)
	}
	return version, nil
}
