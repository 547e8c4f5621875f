// Package rpcstatus turns errors into gRPC statuses. Use it in the services of this module, so
// that all answer alike. Start with [Table.Of].
package rpcstatus

import (
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
)

// Table says which code an error has that wraps one of these. The first match counts.
type Table []struct {
	Err  error
	Code codes.Code
	// Brief keeps the rest of the error to the log, such as where on the disk a file is.
	Brief bool
}

// Of returns the status of an error. A *fl.ParamError names the request field that the error is
// about, or the one inside field, and a *fl.BatchError the field reports; without a match in the
// table both are INVALID_ARGUMENT. Every other error becomes INTERNAL without its text, and is unforeseen.
func (t Table) Of(err error, field string) (st error, unforeseen bool) {
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
	for _, row := range t {
		if errors.Is(err, row.Err) {
			if row.Brief {
				return status.Error(row.Code, row.Err.Error()), false
			}
			code = row.Code
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
