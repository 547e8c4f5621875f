package client

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

// receiveEstimate reads an estimate from its stream. Columns grow with what arrives and not
// with what the header announces.
func receiveEstimate(stream grpc.ServerStreamingClient[service.GetEstimateResponse]) (*fl.Estimate, error) {
	var e *fl.Estimate
	dim, got := 0, 0
	for {
		msg, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && e == nil {
			e, dim, err = newEstimate(msg.GetHeader())
		}
		if err != nil {
			return nil, err
		}
		n, err := appendChunk(e, msg, got, dim)
		if err != nil {
			return nil, err
		}
		got += n
	}
	if e == nil || got != dim {
		return nil, damaged("columns", fmt.Sprintf("%d coordinates", got), "must have the %d that were announced", dim)
	}
	return e, nil
}

// newEstimate returns the estimate that a header announces, with empty columns.
func newEstimate(h *service.EstimateHeader) (*fl.Estimate, int, error) {
	columns := h.GetColumns()
	switch {
	case h.GetDim() < 1 || h.GetDim() > fl.MaxDim:
		return nil, 0, damaged("header.dim", h.GetDim(), "must be in [1, %d]", fl.MaxDim)
	case len(columns) == 0 || len(columns) > 1+fl.MaxColumns || columns[0] != fl.ColumnMean:
		return nil, 0, damaged("header.columns", columns, "must be %q and at most %d more", fl.ColumnMean, fl.MaxColumns)
	}
	for i, name := range columns {
		if slices.Contains(columns[:i], name) {
			return nil, 0, damaged("header.columns", name, "must be listed once")
		}
	}
	if noise := h.GetNoiseNorm(); noise < 0 {
		return nil, 0, damaged("header.noise_norm", noise, "must be ≥ 0, or NaN")
	}
	e := &fl.Estimate{
		Reports:   int64(h.GetReports()),
		Records:   int64(h.GetRecords()),
		Mechanism: h.GetMechanism(),
		NoiseNorm: h.GetNoiseNorm(),
		Guarantee: fl.GuaranteeFromProto(h.GetGuarantee()),
	}
	for _, name := range columns {
		e.Columns = append(e.Columns, fl.Column{Name: name})
	}
	for _, t := range h.GetTiers() {
		e.Tiers = append(e.Tiers, fl.TierEstimate{
			Guarantee: fl.GuaranteeFromProto(t.GetGuarantee()), Reports: int64(t.GetReports()), Weight: t.GetWeight(),
		})
	}
	return e, int(h.GetDim()), nil
}

// appendChunk adds a message to an estimate that has the first got of dim coordinates, and
// returns the number of coordinates in it. A column has standard errors in all chunks or
// in none.
func appendChunk(e *fl.Estimate, msg *service.GetEstimateResponse, got, dim int) (int, error) {
	chunks := msg.GetColumns()
	switch {
	case len(chunks) != len(e.Columns):
		return 0, damaged("columns", len(chunks), "must be the %d that were announced, at coordinate %d", len(e.Columns), got)
	case int(msg.GetOffset()) != got:
		return 0, damaged("offset", msg.GetOffset(), "must be %d", got)
	}
	n := len(chunks[0].GetValue())
	if n < 1 || n > dim-got {
		return 0, damaged("columns", fmt.Sprintf("%d coordinates from %d", n, got), "must be in [1, %d]", dim-got)
	}
	for i, chunk := range chunks {
		c := &e.Columns[i]
		errs := 0
		if got == 0 && len(chunk.GetStdErr()) > 0 || c.StdErr != nil {
			errs = n
		}
		if len(chunk.GetValue()) != n || len(chunk.GetStdErr()) != errs {
			return 0, damaged("columns", fmt.Sprintf("%d values and %d standard errors of %q from %d", len(chunk.GetValue()), len(chunk.GetStdErr()), c.Name, got),
				"must be %d and %d", n, errs)
		}
		c.Value = append(c.Value, chunk.GetValue()...)
		c.StdErr = append(c.StdErr, chunk.GetStdErr()...)
	}
	for i, j := range msg.GetSuspects() {
		if int(j) >= n || i > 0 && j <= msg.GetSuspects()[i-1] {
			return 0, damaged("suspects", j, "must be coordinates of the chunk, below %d and in ascending order", n)
		}
		e.Suspects = append(e.Suspects, got+int(j))
	}
	return n, nil
}
