package server

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
)

func TestErrorsBecomeTheStatusesOfTheServer(t *testing.T) {
	bad := fl.Invalid("dim", 0, "must be > 0")
	for name, c := range map[string]struct {
		err   error
		field string
		code  codes.Code
		names string // the field that the detail names, "" for no detail
	}{
		"closed":           {errClosed, "round_id", codes.FailedPrecondition, "round_id"},
		"expired":          {errExpired, "round_id", codes.FailedPrecondition, "round_id"},
		"too few":          {errTooFew, "round_id", codes.FailedPrecondition, "round_id"},
		"still open":       {errStillOpen, "round_id", codes.FailedPrecondition, "round_id"},
		"other round":      {errOtherRound, "round_digest", codes.FailedPrecondition, "round_digest"},
		"not found":        {errNotFound, "round_id", codes.NotFound, "round_id"},
		"used before":      {errUsedBefore, "round.id", codes.AlreadyExists, "round.id"},
		"a bad token":      {admit.ErrToken, "tokens", codes.Unauthenticated, "tokens"},
		"a spent token":    {errSpent, "tokens", codes.AlreadyExists, "tokens"},
		"limit":            {errLimit, "round.id", codes.ResourceExhausted, "round.id"},
		"cancelled":        {context.Canceled, "", codes.Canceled, ""},
		"too late":         {context.DeadlineExceeded, "", codes.DeadlineExceeded, ""},
		"parameter":        {bad, "", codes.InvalidArgument, "dim"},
		"field itself":     {bad, "dim", codes.InvalidArgument, "dim"},
		"nested parameter": {bad, "round", codes.InvalidArgument, "round.dim"},
		"report":           {&fl.BatchError{Index: 3, Err: bad}, "", codes.InvalidArgument, "reports"},
		"closed, named":    {because(errClosed, "round_id", "r", "must be open"), "", codes.FailedPrecondition, "round_id"},
		"limit of a field": {errors.Join(errLimit, bad), "", codes.ResourceExhausted, "dim"},
		"from gRPC":        {status.Error(codes.Aborted, "as it was"), "round", codes.Aborted, ""},
		"interrupted":      {errInterrupted, "", codes.Internal, ""},
		"unforeseen":       {errors.New(puppetSecret), "round_id", codes.Internal, ""},
	} {
		wrapped := c.err
		if c.code != codes.Aborted {
			wrapped = fmt.Errorf("batch 7: %w", c.err)
		}
		got, unforeseen := statuses.Of(wrapped, c.field)
		st := status.Convert(got)
		if st.Code() != c.code || unforeseen != (c.code == codes.Internal) {
			t.Errorf("%s: %v, unforeseen %t, want code %v", name, got, unforeseen, c.code)
		}
		text := wrapped.Error()
		switch c.code {
		case codes.Internal:
			text = "internal error"
		case codes.Aborted:
			text = "as it was"
		}
		if st.Message() != text {
			t.Errorf("%s: message %q, want %q", name, st.Message(), text)
		}
		names := ""
		for _, d := range st.Details() {
			if b, ok := d.(*errdetails.BadRequest); ok {
				names = b.GetFieldViolations()[0].GetField()
			}
		}
		if names != c.names {
			t.Errorf("%s: the detail names %q, want %q", name, names, c.names)
		}
	}
}
