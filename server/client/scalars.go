package client

import (
	"context"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/service"
)

// Scalar is a number that a training run has measured, for the server's dashboard.
type Scalar struct {
	Name   string  // 1 to 64 characters of [A-Za-z0-9 ._/-]: "test accuracy"
	Round  int     // of the training run, from 1
	Value  float64 // finite
	StdErr float64 // of Value, finite and ≥ 0; 0 where none is known
}

// ReportsOfAClient is the name of a scalar that is no measurement: how many reports a client has by the run's plan, at most. The dashboard
// says what so many reports promise.
const ReportsOfAClient = "reports of a client"

// PutScalars publishes numbers, at least one and at most 32: all or none. One with the name and the
// round of an earlier one replaces it. Whoever sees the dashboard reads them: do not publish what
// was measured on data of clients. The server keeps 32 names, and the 1000 highest rounds of each,
// until it stops.
func (o *Operator) PutScalars(ctx context.Context, scalars ...Scalar) (err error) {
	defer prefix.Error(&err, "client: put scalars")
	req := &service.PutScalarsRequest{}
	for _, s := range scalars {
		if s.Round < 1 || s.Round > math.MaxInt32 {
			return fl.Invalid("Round", s.Round, "must be in [1, %d]", math.MaxInt32)
		}
		req.Scalars = append(req.Scalars, &service.Scalar{Name: s.Name, Round: uint32(s.Round), Value: s.Value, StdErr: s.StdErr})
	}
	_, err = o.api.PutScalars(ctx, req)
	return err
}
