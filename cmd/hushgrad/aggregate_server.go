package main

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
)

// validate checks the flags that -server needs or excludes.
func (a *aggregateFlags) validate() error {
	switch {
	case a.remote.server == "" && len(a.files) == 0:
		return fl.Invalid("arguments", 0, "at least one reports file, or -, is required")
	case a.remote.server == "" && (a.close || a.wait):
		return fl.Invalid("-close and -wait", true, "need -server")
	case a.remote.server != "" && len(a.files) > 0:
		return fl.Invalid("arguments", a.files[0], "only flags are allowed with -server")
	case a.remote.server != "" && a.round == "":
		return fl.Invalid("-round", "", "is required: the id of a round of the server")
	case a.close && a.wait:
		return fl.Invalid("-close and -wait", true, "must not be given together")
	}
	return a.remote.validate()
}

// fetch asks a server for everything about key-value pairs if the round tells it, and
// for the mean otherwise.
func (a *aggregateFlags) fetch(ctx context.Context) (*estimates, error) {
	conn, err := a.remote.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	operator := client.NewOperator(conn)
	if a.close {
		if err := operator.CloseRound(ctx, a.round); err != nil {
			return nil, err
		}
	}
	var e *estimates
	pairs, err := operator.KeyValues(ctx, a.round, a.wait)
	switch status.Code(err) {
	case codes.OK:
		e = ofKeyValues(pairs)
	case codes.InvalidArgument:
		mean, err := operator.Estimate(ctx, a.round, a.wait)
		if err != nil {
			return nil, err
		}
		e = ofMean(mean)
	default:
		return nil, err
	}
	e.dim = len(e.columns[0].values)
	if e.keys, err = readDictionary(a.keys, e.dim); err != nil {
		return nil, err
	}
	return e, nil
}
