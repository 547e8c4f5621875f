package abi

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// recordSum is the sum of one client's records in a round.
type recordSum struct {
	fl.RecordSum
	round *round
}

// recordsArg is the argument of operations on a sum of records.
type recordsArg struct {
	Records uint64 `json:"records"`
}

// recordsAddArgs are the arguments of records.add, like encodeArgs.
type recordsAddArgs struct {
	Records uint64 `json:"records"`
	Type    string `json:"type"`
	Rows    int    `json:"rows"`
	First   int    `json:"first"`
}

func (a recordsArg) object() (string, uint64)     { return "records", a.Records }
func (a recordsAddArgs) object() (string, uint64) { return "records", a.Records }

func newRecords(_ context.Context, s *Session, r *round, _ roundArg, _ []byte) (any, []byte, error) {
	if err := r.checkEncodes(); err != nil {
		return nil, nil, err
	}
	m, ok := r.mechanism.(fl.RecordMechanism)
	if !ok {
		return nil, nil, fl.Invalid("mechanism", r.Mechanism, "must be one for sums of records")
	}
	sum, err := m.NewRecordSum(nil)
	if err != nil {
		return nil, nil, err
	}
	handle, err := s.hold(&recordSum{sum, r})
	return recordsArg{handle}, nil, err
}

// addRecords adds one record for each row.
func addRecords(ctx context.Context, _ *Session, s *recordSum, args recordsAddArgs, payload []byte) (any, []byte, error) {
	r := s.round
	width, err := r.checkRows(args.Type, args.Rows, payload)
	if err != nil {
		return nil, nil, err
	}
	defer r.forget()
	for i := range args.Rows {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := s.Add(r.wideRow(payload[i*width*r.Dim:(i+1)*width*r.Dim], width)); err != nil {
			return nil, nil, fmt.Errorf("rows[%d]: %w", args.First+i, err)
		}
	}
	return none{}, nil, nil
}

// encodeRecords makes the one report of a sum.
func encodeRecords(_ context.Context, _ *Session, s *recordSum, _ recordsArg, _ []byte) (any, []byte, error) {
	if err := s.round.admission.admits(1); err != nil {
		return nil, nil, err
	}
	report, err := s.Append(nil)
	if err != nil {
		return nil, nil, err
	}
	packed, err := s.round.send([][]byte{report})
	return none{}, packed, err
}
