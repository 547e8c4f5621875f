package server

import (
	"sync"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// keyValuesOf returns the key-value estimate of a closed round, or nil if its
// aggregator has none. It is decoded when it is first asked for, because rounds of
// gradients never do and their mechanisms may have one, too.
func keyValuesOf(sum fl.Aggregator) func() (*fl.KeyValueEstimate, error) {
	kv, ok := sum.(fl.KeyValueAggregator)
	if !ok {
		return nil
	}
	return sync.OnceValues(kv.KeyValues)
}

func (s operatorService) GetKeyValues(req *service.GetKeyValuesRequest, stream grpc.ServerStreamingServer[service.GetKeyValuesResponse]) error {
	r, err := s.released(stream.Context(), req)
	var e *fl.KeyValueEstimate
	switch {
	case err != nil:
	case r.keyValues == nil:
		err = fl.Invalid("round_id", req.GetRoundId(), "must have a mechanism for key-value pairs, which %q is not", r.description.Mechanism)
	default:
		e, err = r.keyValues()
	}
	if err != nil {
		return s.fail("GetKeyValues", err, "round_id")
	}
	return sendKeyValues(r.description, e, stream)
}

// sendKeyValues streams an estimate in chunks of chunkBytes.
func sendKeyValues(r fl.Round, e *fl.KeyValueEstimate, stream grpc.ServerStreamingServer[service.GetKeyValuesResponse]) error {
	const perChunk = chunkBytes / 40 // at most five float64 per key
	msg := &service.GetKeyValuesResponse{Header: &service.EstimateHeader{
		RoundId:   r.ID,
		Mechanism: e.Mechanism,
		Dim:       uint32(r.Dim),
		Reports:   uint64(e.Reports),
		Guarantee: e.Guarantee.Proto(),
	}}
	for from := 0; from < r.Dim; from += perChunk {
		to := min(from+perChunk, r.Dim)
		part := func(column []float64) []float64 {
			if len(column) == 0 {
				return nil
			}
			return column[from:to]
		}
		msg.Offset = uint32(from)
		msg.Frequency, msg.FrequencyStdErr = part(e.Frequency.Value), part(e.Frequency.StdErr)
		msg.Mean, msg.MeanStdErr = part(e.Mean.Value), part(e.Mean.StdErr)
		msg.Conditional = part(e.Conditional)
		if err := stream.Send(msg); err != nil {
			return err
		}
		msg = new(service.GetKeyValuesResponse)
	}
	return nil
}
