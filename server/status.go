package server

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// spoils reports whether an error of counting leaves aggregators that are not what the journal
// has: the mechanism panicked, or what it counted could not be kept.
func spoils(err error) bool { return errors.Is(err, errInterrupted) || errors.Is(err, errNotKept) }

// Errors of the round's life, mapped to codes by statusOf.
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
	errRetired     = errors.New("newer models were published")
	errOtherRound  = errors.New("the reports were made for another description of the round")
)

var codeOf = []struct {
	err  error
	code codes.Code
}{
	{errClosed, codes.FailedPrecondition},
	{errExpired, codes.FailedPrecondition},
	{errAborted, codes.FailedPrecondition},
	{errTooFew, codes.FailedPrecondition},
	{errStillOpen, codes.FailedPrecondition},
	{errOtherRound, codes.FailedPrecondition},
	{errNotFound, codes.NotFound},
	{errUsedBefore, codes.AlreadyExists},
	{errLimit, codes.ResourceExhausted},
	{journal.ErrFull, codes.ResourceExhausted},
	{errStopping, codes.Unavailable},
	{errRetired, codes.Aborted},
	{context.Canceled, codes.Canceled},
	{context.DeadlineExceeded, codes.DeadlineExceeded},
}

// because is an fl.Invalid that wraps why, one of the errors of the round's life.
func because(why error, param string, got any, rule string, args ...any) error {
	return fmt.Errorf("%w: %w", fl.Invalid(param, got, rule, args...), why)
}

// statusOf turns an error into a gRPC status. A *fl.ParamError names the request field that
// the error is about, or the one inside field.
// Unforeseen errors become INTERNAL without their text.
func statusOf(err error, field string) (st error, unforeseen bool) {
	if _, ok := status.FromError(err); ok {
		return err, false // came from gRPC, or is one already
	}
	code := codes.Internal
	var param *fl.ParamError
	var batch *fl.BatchError
	switch {
	case errors.As(err, &batch):
		code, field = codes.InvalidArgument, "reports"
	case errors.As(err, &param):
		code = codes.InvalidArgument
		switch field {
		case param.Param: // the field itself, not one inside it
		case "":
			field = param.Param
		default:
			field += "." + param.Param
		}
	}
	for _, c := range codeOf {
		if errors.Is(err, c.err) {
			code = c.code
			break
		}
	}
	if code == codes.Internal {
		return status.Error(code, "internal error"), true
	}
	s := status.New(code, err.Error())
	if field != "" {
		detail := &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: field, Description: err.Error()},
		}}
		if with, err := s.WithDetails(detail); err == nil {
			s = with
		}
	}
	return s.Err(), false
}

// fail is statusOf, and logs errors that are unforeseen.
func (s *Server) fail(method string, err error, field string) error {
	st, unforeseen := statusOf(err, field)
	if unforeseen {
		s.cfg.Logger.Error("internal error", "method", method, "error", err)
	}
	return st
}
