package client

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// KeyValues fetches what a closed round of key-value pairs tells: frequencies, means
// and conditional means per key, each of length dim or, where the mechanism cannot
// tell them, nil. With wait it waits for the round to close, as long as ctx allows. The
// server answers INVALID_ARGUMENT when the round tells the mean only; Estimate has it.
func (o *Operator) KeyValues(ctx context.Context, roundID string, wait bool) (*fl.KeyValueEstimate, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := o.api.GetKeyValues(ctx, &service.GetKeyValuesRequest{RoundId: roundID, Wait: wait})
	if err != nil {
		return nil, fmt.Errorf("client: key values: %w", err)
	}
	e, err := receiveKeyValues(stream)
	if err != nil {
		return nil, fmt.Errorf("client: key values: %w", err)
	}
	return e, nil
}

func receiveKeyValues(stream grpc.ServerStreamingClient[service.GetKeyValuesResponse]) (*fl.KeyValueEstimate, error) {
	var e *fl.KeyValueEstimate
	dim, got := 0, 0
	err := receive(stream, func(msg *service.GetKeyValuesResponse) error {
		if e == nil {
			h, err := checkHeader(msg.GetHeader())
			if err != nil {
				return err
			}
			dim = int(h.GetDim())
			e = &fl.KeyValueEstimate{
				Reports:   int64(h.GetReports()),
				Mechanism: h.GetMechanism(),
				Guarantee: fl.GuaranteeFromProto(h.GetGuarantee()),
			}
		}
		n, err := appendKeys(e, msg, got, dim)
		got += n
		return err
	})
	if err != nil {
		return nil, err
	}
	if e == nil || got != dim {
		return nil, fmt.Errorf("got %d of %d keys: %w", got, dim, ErrIncomplete)
	}
	return e, nil
}

// appendKeys adds a chunk to an estimate that has the first got of dim keys, and
// returns the number of keys in it. A column stays empty if it is empty in the first
// chunk.
func appendKeys(e *fl.KeyValueEstimate, msg *service.GetKeyValuesResponse, got, dim int) (int, error) {
	n := max(len(msg.GetFrequency()), len(msg.GetMean()), len(msg.GetConditional()))
	if int(msg.GetOffset()) != got || n < 1 || n > dim-got {
		return 0, fmt.Errorf("chunk of %d keys at %d, expected at %d of %d: %w", n, msg.GetOffset(), got, dim, ErrIncomplete)
	}
	for _, column := range []struct {
		name string
		to   *[]float64
		from []float64
	}{
		{"frequency", &e.Frequency.Value, msg.GetFrequency()},
		{"frequency_std_err", &e.Frequency.StdErr, msg.GetFrequencyStdErr()},
		{"mean", &e.Mean.Value, msg.GetMean()},
		{"mean_std_err", &e.Mean.StdErr, msg.GetMeanStdErr()},
		{"conditional", &e.Conditional, msg.GetConditional()},
	} {
		if got == 0 && len(column.from) > 0 {
			*column.to = make([]float64, 0, dim)
		}
		want := 0
		if *column.to != nil {
			want = n
		}
		if len(column.from) != want {
			return 0, fmt.Errorf("chunk of %d keys at %d: %d numbers of %s, expected %d: %w", n, got, len(column.from), column.name, want, ErrIncomplete)
		}
		*column.to = append(*column.to, column.from...)
	}
	if len(e.Frequency.Value) != len(e.Frequency.StdErr) || len(e.Mean.Value) != len(e.Mean.StdErr) {
		return 0, fmt.Errorf("chunk at %d: estimates without standard errors: %w", got, ErrIncomplete)
	}
	return n, nil
}
