package server

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rpcstatus"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/internal/model"
	"github.com/hushgrad/hushgrad/server/internal/releases"
	"github.com/hushgrad/hushgrad/server/journal"
)

// spoils reports whether an error of counting leaves aggregators that are not what the journal
// has: the mechanism panicked, or what it counted could not be kept.
func spoils(err error) bool { return errors.Is(err, errInterrupted) || errors.Is(err, errNotKept) }

// Errors of the round's life, mapped to codes by statuses.
var (
	errClosed      = errors.New("the round is closed")
	errAborted     = errors.New("the round was aborted: no estimate will be released")
	errExpired     = errors.New("the deadline passed with too few reports: no estimate will be released")
	errTooFew      = errors.New("too few reports")
	errStillOpen   = errors.New("the round is still open")
	errNotFound    = errors.New("not found")
	errUsedBefore  = errors.New("used before")
	errLimit       = errors.New("limit reached")
	errInterrupted = errors.New("the mechanism was interrupted")
	errNotKept     = errors.New("the reports could not be kept")
	errStopping    = errors.New("the server is shutting down")
	errSpent       = errors.New("the token was spent on another report")
	errOtherRound  = errors.New("the reports were made for another description of the round")
	errShuffled    = errors.New("the reports of this round come from its shuffler")
	errUnshuffled  = errors.New("the reports of this round come from its clients")
	errReleased    = errors.New("an estimate of the round is in the log, and this journal is older: no other one will be released")
	errIncomplete  = errors.New("the shuffler did not complete the round in time: no estimate will be released")
)

var statuses = rpcstatus.Table{
	{Err: errClosed, Code: codes.FailedPrecondition},
	{Err: errExpired, Code: codes.FailedPrecondition},
	{Err: errAborted, Code: codes.FailedPrecondition},
	{Err: errTooFew, Code: codes.FailedPrecondition},
	{Err: errStillOpen, Code: codes.FailedPrecondition},
	{Err: errOtherRound, Code: codes.FailedPrecondition},
	{Err: errShuffled, Code: codes.FailedPrecondition},
	{Err: errUnshuffled, Code: codes.FailedPrecondition},
	{Err: errElsewhere, Code: codes.FailedPrecondition},
	{Err: errReleased, Code: codes.FailedPrecondition},
	{Err: errIncomplete, Code: codes.FailedPrecondition},
	{Err: releases.ErrOther, Code: codes.FailedPrecondition},
	{Err: fl.ErrUnmatched, Code: codes.FailedPrecondition},
	{Err: admit.ErrToken, Code: codes.Unauthenticated},
	{Err: errSpent, Code: codes.AlreadyExists},
	{Err: errNotFound, Code: codes.NotFound},
	{Err: model.ErrNone, Code: codes.NotFound},
	{Err: errUsedBefore, Code: codes.AlreadyExists},
	{Err: errLimit, Code: codes.ResourceExhausted},
	{Err: journal.ErrFull, Code: codes.ResourceExhausted},
	{Err: journal.ErrFailed, Code: codes.Unavailable, Brief: true},
	{Err: errStopping, Code: codes.Unavailable},
	{Err: model.ErrRetired, Code: codes.Aborted},
	{Err: context.Canceled, Code: codes.Canceled},
	{Err: context.DeadlineExceeded, Code: codes.DeadlineExceeded},
}

// because is an fl.Invalid that wraps why, one of the errors of the round's life.
func because(why error, param string, got any, rule string, args ...any) error {
	return fmt.Errorf("%w: %w", fl.Invalid(param, got, rule, args...), why)
}

// fail returns the status of an error, and logs errors that are unforeseen.
func (s *Server) fail(method string, err error, field string) error {
	st, unforeseen := statuses.Of(err, field)
	if unforeseen {
		s.cfg.Logger.Error("internal error", "method", method, "error", err)
	}
	return st
}
