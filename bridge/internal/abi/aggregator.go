package abi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// aggregator counts the reports of a round.
type aggregator struct {
	fl.Aggregator
	round *round
}

// roundArg is the argument of operations on a round.
type roundArg struct {
	Round uint64 `json:"round"`
}

// aggregatorArg is the argument of operations on an aggregator.
type aggregatorArg struct {
	Aggregator uint64 `json:"aggregator"`
}

func (a roundArg) object() (string, uint64)      { return "round", a.Round }
func (a aggregatorArg) object() (string, uint64) { return "aggregator", a.Aggregator }
func (a mergeArgs) object() (string, uint64)     { return "aggregator", a.Aggregator }
func (a encodeArgs) object() (string, uint64)    { return "round", a.Round }

func newAggregator(_ context.Context, s *Session, r *round, _ roundArg, _ []byte) (any, []byte, error) {
	handle, err := s.hold(&aggregator{r.mechanism.NewAggregator(), r})
	return aggregatorArg{handle}, nil, err
}

func add(_ context.Context, _ *Session, a *aggregator, _ aggregatorArg, payload []byte) (any, []byte, error) {
	reports, err := a.add(payload)
	return struct {
		Reports int `json:"reports"`
	}{reports}, nil, err
}

// add counts all packed reports, or none.
func (a *aggregator) add(packed []byte) (int, error) {
	if a.round.sealing != nil {
		return 0, fl.Invalid("shuffler", a.round.Shuffler, "must be empty to add reports: the server that has the key opens this round's reports")
	}
	m := a.round.mechanism
	first, rest := cut(m, packed)
	reports, err := fl.UnpackReports(m, first)
	if err != nil {
		return 0, err
	}
	if len(rest) == 0 {
		return len(reports), fl.AddBatch(m, a.Aggregator, reports)
	}
	part, counted := m.NewAggregator(), 0
	for {
		if err := fl.AddBatch(m, part, reports); err != nil {
			if refused, ok := errors.AsType[*fl.BatchError](err); ok { // its place among all of them
				err = &fl.BatchError{Index: counted + refused.Index, Err: refused.Err}
			}
			return 0, err
		}
		if counted += len(reports); len(rest) == 0 {
			return counted, a.Merge(part)
		}
		first, rest = cut(m, rest)
		if reports, err = fl.UnpackReports(m, first); err != nil {
			return 0, err
		}
	}
}

// cut splits packed reports behind fl.MaxBatch of them. It leaves it to fl.UnpackReports to
// refuse what are no reports.
func cut(m fl.Mechanism, packed []byte) (first, rest []byte) {
	if sizer, ok := m.(fl.ReportSizer); ok {
		most := min(len(packed), fl.MaxBatch*sizer.ReportBytes())
		return packed[:most], packed[most:]
	}
	at := 0
	for range fl.MaxBatch {
		size, used := binary.Uvarint(packed[at:])
		if used <= 0 || size > uint64(len(packed)-at-used) {
			return packed, nil
		}
		at += used + int(size)
	}
	return packed[:at], packed[at:]
}

// mergeArgs are the arguments of merge.
type mergeArgs struct {
	Aggregator uint64 `json:"aggregator"`
	Other      uint64 `json:"other"`
}

func merge(_ context.Context, s *Session, a *aggregator, args mergeArgs, _ []byte) (any, []byte, error) {
	other, err := held[*aggregator](s, "other", args.Other)
	if err != nil {
		return nil, nil, err
	}
	if a == other {
		return nil, nil, fl.Invalid("other", args.Other, "must be another aggregator: its reports are counted already")
	}
	return none{}, nil, a.Merge(other.Aggregator)
}

func takeSnapshot(_ context.Context, _ *Session, a *aggregator, _ aggregatorArg, _ []byte) (any, []byte, error) {
	data, err := a.MarshalBinary()
	return none{}, data, err
}

func restore(_ context.Context, _ *Session, a *aggregator, _ aggregatorArg, payload []byte) (any, []byte, error) {
	return none{}, nil, a.UnmarshalBinary(payload)
}

// column says what the payload of an estimate holds.
type column struct {
	Name   string `json:"name"`
	StdErr bool   `json:"std_err"`
}

// estimateAnswer is the answer of estimate. Its payload has the numbers.
type estimateAnswer struct {
	Reports   int64     `json:"reports"`
	Records   int64     `json:"records"` // behind the reports, or 0 where reports are about clients
	Columns   []column  `json:"columns"`
	NoiseNorm number    `json:"noise_norm"`
	Suspects  []int     `json:"suspects"` // coordinates at which more reports agree than honest clients send
	Guarantee guarantee `json:"guarantee"`
}

func estimate(_ context.Context, _ *Session, a *aggregator, _ aggregatorArg, _ []byte) (any, []byte, error) {
	e, err := a.Estimate()
	if errors.Is(err, fl.ErrNoReports) {
		err = fmt.Errorf("%w: %w", err, fl.Invalid("reports", 0, "must be at least min_reports, %d", a.round.MinReports))
	}
	if err != nil {
		return nil, nil, err
	}
	answer := estimateAnswer{Reports: e.Reports, Records: e.Records, NoiseNorm: number(e.NoiseNorm), Suspects: append([]int{}, e.Suspects...), Guarantee: guaranteeOf(e.Guarantee)}
	numbers := make([]byte, 0, 16*a.round.Dim*len(e.Columns))
	for _, c := range e.Columns {
		answer.Columns = append(answer.Columns, column{c.Name, c.StdErr != nil})
		numbers = appendNumbers(appendNumbers(numbers, c.Value), c.StdErr)
	}
	return answer, numbers, nil
}

func appendNumbers(b []byte, numbers []float64) []byte {
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}
