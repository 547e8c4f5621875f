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
// refuses (FAILED_PRECONDITION) and the round stays open.
func (o *Operator) CloseRound(ctx context.Context, roundID string) error {
	if _, err := o.api.CloseRound(ctx, &service.CloseRoundRequest{RoundId: roundID}); err != nil {
		return fmt.Errorf("client: close round: %w", err)
	}
	return nil
}

// Estimate fetches the estimate of a closed round. With wait it waits for the
// round to close, as long as ctx allows.
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

func receiveEstimate(stream grpc.ServerStreamingClient[service.GetEstimateResponse]) (*fl.Estimate, error) {
	var e *fl.Estimate
	got := 0
	err := receive(stream, func(msg *service.GetEstimateResponse) error {
		if e == nil {
			h, err := checkHeader(msg.GetHeader())
			if err != nil {
				return err
			}
			e = &fl.Estimate{
				Series:    fl.Series{Value: make([]float64, h.GetDim()), StdErr: make([]float64, h.GetDim())},
				Reports:   int64(h.GetReports()),
				Mechanism: h.GetMechanism(),
				Guarantee: fl.GuaranteeFromProto(h.GetGuarantee()),
			}
			for _, t := range h.GetTiers() {
				e.Tiers = append(e.Tiers, fl.TierEstimate{
					Guarantee: fl.GuaranteeFromProto(t.GetGuarantee()), Reports: int64(t.GetReports()), Weight: t.GetWeight(),
				})
			}
		}
		n := len(msg.GetMean())
		if int(msg.GetOffset()) != got || len(msg.GetStdErr()) != n || n > len(e.Value)-got {
			return fmt.Errorf("chunk of %d means and %d errors at %d, expected at %d of %d: %w",
				n, len(msg.GetStdErr()), msg.GetOffset(), got, len(e.Value), ErrIncomplete)
		}
		copy(e.Value[got:], msg.GetMean())
		copy(e.StdErr[got:], msg.GetStdErr())
		got += n
		return nil
	})
	if err != nil {
		return nil, err
	}
	if e == nil || got != len(e.Value) {
		return nil, fmt.Errorf("got %d coordinates: %w", got, ErrIncomplete)
	}
	return e, nil
}

// receive hands every message of a stream to take, to its end or the first error.
func receive[T any](stream grpc.ServerStreamingClient[T], take func(*T) error) error {
	for {
		msg, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(msg)
		}
		if err != nil {
			return err
		}
	}
}

// checkHeader returns the header unless its dimension cannot be that of a round.
func checkHeader(h *service.EstimateHeader) (*service.EstimateHeader, error) {
	if h.GetDim() < 1 || h.GetDim() > fl.MaxDim {
		return nil, fmt.Errorf("header.dim: got %d, must be in [1, %d]: %w", h.GetDim(), fl.MaxDim, ErrIncomplete)
	}
	return h, nil
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
