package rpcstatus

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
)

func TestErrorsBecomeStatuses(t *testing.T) {
	errLost, errFailed, errOther := errors.New("lost"), errors.New("failed"), errors.New("other")
	table := Table{{Err: errLost, Code: codes.NotFound}, {Err: errFailed, Code: codes.Unavailable, Brief: true}}
	param := fl.Invalid("dim", 0, "must be at least 1")
	for name, c := range map[string]struct {
		err         error
		field       string
		code        codes.Code
		says, names string
		unforeseen  bool
	}{
		"a parameter":       {param, "", codes.InvalidArgument, param.Error(), "dim", false},
		"inside a field":    {fmt.Errorf("open: %w", param), "round", codes.InvalidArgument, "open: " + param.Error(), "round.dim", false},
		"the field itself":  {param, "dim", codes.InvalidArgument, param.Error(), "dim", false},
		"in the table":      {fmt.Errorf("find: %w", errLost), "", codes.NotFound, "find: lost", "", false},
		"in brief":          {fmt.Errorf("/secret: %w: %w", errFailed, param), "dim", codes.Unavailable, "failed", "", false},
		"a parameter in it": {fmt.Errorf("%w: %w", param, errLost), "", codes.NotFound, param.Error() + ": lost", "dim", false},
		"a report":          {&fl.BatchError{Index: 3, Err: param}, "round", codes.InvalidArgument, "reports[3]: " + param.Error(), "reports", false},
		"a status":          {status.Error(codes.Aborted, "no"), "dim", codes.Aborted, "no", "", false},
		"something else":    {errOther, "dim", codes.Internal, "internal error", "", true},
	} {
		st, unforeseen := table.Of(c.err, c.field)
		names := ""
		for _, detail := range status.Convert(st).Details() {
			names += detail.(*errdetails.BadRequest).GetFieldViolations()[0].GetField()
		}
		if status.Code(st) != c.code || status.Convert(st).Message() != c.says || names != c.names || unforeseen != c.unforeseen {
			t.Errorf("%s: %v, %q, unforeseen %t, want %v %q, %q, %t", name, st, names, unforeseen, c.code, c.says, c.names, c.unforeseen)
		}
	}
}
