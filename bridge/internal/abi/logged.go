//go:build !js

package abi

import (
	"context"
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/translog"
)

// loggedArgs are the arguments of logged.
type loggedArgs struct {
	Round     uint64   `json:"round"`
	LogKey    string   `json:"log_key"`
	Witnesses []string `json:"witnesses"`
}

func (a loggedArgs) object() (string, uint64) { return "round", a.Round }

// checkLogged refuses a round that the payload does not prove to be in the log.
func checkLogged(_ context.Context, _ *Session, r *round, args loggedArgs, payload []byte) (any, []byte, error) {
	keys, err := translog.NewKeys("log_key", args.LogKey, "witnesses", args.Witnesses)
	if err != nil {
		return nil, nil, err
	}
	if _, err := keys.Check(payload, r.digest); errors.Is(err, translog.ErrUnlogged) {
		return nil, nil, fmt.Errorf("%w: %w", fl.ErrPolicy, err)
	} else if err != nil {
		return nil, nil, err
	}
	return none{}, nil, nil
}
