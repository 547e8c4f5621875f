package server

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

// GetEstimate streams the estimate of a round that is closed, or will be.
func (s operatorService) GetEstimate(req *service.GetEstimateRequest, stream grpc.ServerStreamingServer[service.GetEstimateResponse]) (failed error) {
	defer s.audit(stream.Context(), "GetEstimate", req.GetRoundId(), &failed)
	r, err := s.named(req.GetRoundId())
	switch {
	case err != nil:
	case req.GetWait():
		err = r.wait(stream.Context())
	case !r.settled():
		err = because(errStillOpen, "round_id", req.GetRoundId(), "must be closed")
	default:
		err = r.failure
	}
	if err == nil {
		err = r.sendEstimate(stream)
	}
	if err != nil {
		return s.fail("GetEstimate", err, "")
	}
	return nil
}

// sendEstimate streams an estimate from the journal.
func (r *round) sendEstimate(stream grpc.ServerStreamingServer[service.GetEstimateResponse]) error {
	for part, sent := uint32(0), 0; sent < r.description.Dim; part++ {
		data, err := r.journal.Get(estimateKey(r.description.ID, part))
		if errors.Is(err, journal.ErrNotFound) { // forgotten meanwhile
			return because(errNotFound, "round_id", r.description.ID, "must be among the newest that have ended")
		}
		msg := &service.GetEstimateResponse{}
		if err == nil {
			err = proto.Unmarshal(data, msg)
		}
		if err == nil {
			err = stream.Send(msg)
		}
		if err != nil {
			return err
		}
		sent = int(msg.GetOffset()) + len(msg.GetColumns()[0].GetValue())
	}
	return nil
}

// writeEstimate writes an estimate to the journal, where nobody looks for it before the round
// has ended.
func (r *round) writeEstimate(e *fl.Estimate) error {
	for part, msg := range estimateParts(r.description, e) {
		data, err := proto.Marshal(msg)
		if err != nil {
			return err
		}
		var b journal.Batch
		b.Put(estimateKey(r.description.ID, part), data)
		if err := r.journal.Commit(&b); err != nil {
			return err
		}
	}
	return nil
}

// chunkBytes is the payload of one message of an estimate: well below the 4 MiB that gRPC
// clients accept by default.
const chunkBytes = 1 << 20

// estimateParts are the messages of chunkBytes that an estimate is sent in.
func estimateParts(r fl.Round, e *fl.Estimate) iter.Seq2[uint32, *service.GetEstimateResponse] {
	return func(yield func(uint32, *service.GetEstimateResponse) bool) {
		msg := &service.GetEstimateResponse{Header: estimateHeader(r, e)}
		perChunk := chunkBytes / (16 * len(e.Columns)) // two float64 per coordinate and column
		suspects := e.Suspects
		for part, from := uint32(0), 0; from < r.Dim; part, from = part+1, from+perChunk {
			to := min(from+perChunk, r.Dim)
			msg.Offset = uint32(from)
			for _, c := range e.Columns {
				chunk := &service.ColumnChunk{Value: c.Value[from:to]}
				if c.StdErr != nil {
					chunk.StdErr = c.StdErr[from:to]
				}
				msg.Columns = append(msg.Columns, chunk)
			}
			for len(suspects) > 0 && suspects[0] < to {
				msg.Suspects, suspects = append(msg.Suspects, uint32(suspects[0]-from)), suspects[1:]
			}
			if !yield(part, msg) {
				return
			}
			msg = new(service.GetEstimateResponse)
		}
	}
}

func estimateHeader(r fl.Round, e *fl.Estimate) *service.EstimateHeader {
	h := &service.EstimateHeader{
		RoundId:   r.ID,
		Mechanism: e.Mechanism,
		Dim:       uint32(r.Dim),
		Reports:   uint64(e.Reports),
		Records:   uint64(e.Records),
		Guarantee: e.Guarantee.Proto(),
		NoiseNorm: e.NoiseNorm,
	}
	for _, c := range e.Columns {
		h.Columns = append(h.Columns, c.Name)
	}
	for _, t := range e.Tiers {
		h.Tiers = append(h.Tiers, &service.TierEstimate{Guarantee: t.Guarantee.Proto(), Reports: uint64(t.Reports), Weight: t.Weight})
	}
	return h
}

// checkEstimate refuses what a mechanism must not return: columns that are not
// the round's, or of another length, or a negative norm.
func checkEstimate(r fl.Round, e *fl.Estimate) error {
	if e == nil {
		return fl.Invalid("estimate", "nothing", "must be there when there is no error")
	}
	names := estimateHeader(r, e).GetColumns()
	if want := append([]string{fl.ColumnMean}, r.Columns...); !slices.Equal(names, want) {
		return fl.Invalid("columns", names, "must be %v", want)
	}
	for _, c := range e.Columns {
		if len(c.Value) != r.Dim || c.StdErr != nil && len(c.StdErr) != r.Dim {
			return fl.Invalid(c.Name, fmt.Sprintf("%d values and %d standard errors", len(c.Value), len(c.StdErr)), "must have dim = %d of both, or no standard errors", r.Dim)
		}
	}
	if e.NoiseNorm < 0 {
		return fl.Invalid("noise_norm", e.NoiseNorm, "must be ≥ 0, or NaN")
	}
	for i, j := range e.Suspects {
		if j < 0 || j >= r.Dim || i > 0 && j <= e.Suspects[i-1] {
			return fl.Invalid("suspects", j, "must be coordinates below dim = %d, in ascending order", r.Dim)
		}
	}
	return nil
}
