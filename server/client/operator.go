package client

import (
	"context"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/service"
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
func (o *Operator) OpenRound(ctx context.Context, r fl.Round) (_ fl.Round, err error) {
	defer prefix.Error(&err, "client: open round")
	m := r.Proto()
	if r.PublicSeed == [32]byte{} {
		m.PublicSeed = nil
	}
	resp, err := o.api.OpenRound(ctx, &service.OpenRoundRequest{Round: m})
	if err != nil {
		return fl.Round{}, err
	}
	return fl.RoundFromProto(resp.GetRound())
}

// CloseRound stops a round. With fewer than min_reports reports the server
// refuses (FAILED_PRECONDITION) and the round stays open. In a round with a shuffler it asks that for
// its reports and waits until it has forwarded them, as long as ctx allows.
func (o *Operator) CloseRound(ctx context.Context, roundID string) (err error) {
	defer prefix.Error(&err, "client: close round")
	_, err = o.api.CloseRound(ctx, &service.CloseRoundRequest{RoundId: roundID})
	return err
}

// AbortRound ends a round without an estimate. Its reports are dropped.
func (o *Operator) AbortRound(ctx context.Context, roundID string) (err error) {
	defer prefix.Error(&err, "client: abort round")
	_, err = o.api.AbortRound(ctx, &service.AbortRoundRequest{RoundId: roundID})
	return err
}

// Estimate fetches the estimate of a closed round: the mean, and the columns that the
// round asked for. With wait it waits for the round to close, as long as ctx allows.
func (o *Operator) Estimate(ctx context.Context, roundID string, wait bool) (_ *fl.Estimate, err error) {
	defer prefix.Error(&err, "client: estimate")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := o.api.GetEstimate(ctx, &service.GetEstimateRequest{RoundId: roundID, Wait: wait})
	if err != nil {
		return nil, err
	}
	return receiveEstimate(stream)
}

// PutModel publishes a model and returns its version. format is a media type,
// for example "application/x-npy". The current model again changes nothing and has its version.
func (o *Operator) PutModel(ctx context.Context, format string, data []byte) (version uint64, err error) {
	defer prefix.Error(&err, "client: put model")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := o.api.PutModel(ctx)
	if err != nil {
		return 0, err
	}
	return sendModel(stream, format, data)
}
