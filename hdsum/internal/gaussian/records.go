package gaussian

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// maxRecords is the largest value of fl.ParamRecords.
const maxRecords = math.MaxUint32

// countBytes is the length of the number of records, with which every share of such a round begins.
const countBytes = 4

// readRecords returns the most records of a round, and 0 for a round whose reports are about clients. others are parameters that
// are read elsewhere.
func readRecords(p fl.Params, others ...string) (int64, error) {
	if err := p.Only(append(others, fl.ParamRecords)...); err != nil || !p.Has(fl.ParamRecords) {
		return 0, err
	}
	n, err := p.Int(fl.ParamRecords)
	if err == nil && (n < 1 || int64(n) > maxRecords) {
		err = fl.Invalid(fl.ParamRecords, n, "must be in [1, %d]", int64(maxRecords))
	}
	return int64(n), err
}

// recordSum implements fl.RecordSum.
type recordSum struct {
	vectors *vectors
	report  func(dst []byte, sum []int64, records int64, rng *rand.Rand) []byte
	rng     *rand.Rand
	sum     []int64
	records int64
	sent    bool

	rotated []float64 // of a record
	rounded []int64
}

// newRecordSum returns the sum of no records, of which report makes a report. It takes 24·d' bytes.
func (v *vectors) newRecordSum(rng *rand.Rand, report func(dst []byte, sum []int64, records int64, rng *rand.Rand) []byte) (fl.RecordSum, error) {
	if v.records == 0 {
		return nil, v.round.Wrap("records", fl.Invalid(fl.ParamRecords, "nothing", "must be the most records that all clients have together, for reports of sums"))
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	d := v.padded()
	return &recordSum{vectors: v, report: report, rng: rng, sum: make([]int64, d), rotated: make([]float64, d), rounded: make([]int64, d)}, nil
}

// NewRecordSum implements fl.RecordMechanism.
func (m *mechanism) NewRecordSum(rng *rand.Rand) (fl.RecordSum, error) {
	return m.newRecordSum(rng, func(dst []byte, sum []int64, records int64, rng *rand.Rand) []byte {
		first, second := m.split(dst, nil, sum, records, rng)
		return append(first, second...)
	})
}

// Add implements fl.RecordSum. Every record is clipped, rounded and bounded by itself, because rounding their sum would
// have a sensitivity √d' times as large. Expected time O(d' log d').
func (s *recordSum) Add(grad []float64) error {
	v := s.vectors
	if s.records == v.records {
		return v.round.Wrap("add", fl.Invalid(fl.ParamRecords, s.records+1, "must be at most %d, as the round says", v.records))
	}
	if want := v.integers.rotation.Dim(); len(grad) != want {
		return v.round.Wrap("add", fl.Invalid("gradient", fmt.Sprintf("%d numbers", len(grad)), "must have %d", want))
	}
	s.records++
	for _, x := range grad {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	}
	if err := v.integers.into(s.rounded, s.rotated, grad, s.rng); err != nil {
		return v.round.Wrap("add", err)
	}
	for i, x := range s.rounded {
		s.sum[i] += x
	}
	return nil
}

// Records implements fl.RecordSum.
func (s *recordSum) Records() int { return int(s.records) }

// Append implements fl.RecordSum.
func (s *recordSum) Append(dst []byte) ([]byte, error) {
	switch {
	case s.records == 0:
		return dst, s.vectors.round.Wrap("encode", fl.Invalid(fl.ParamRecords, 0, "must be at least 1"))
	case s.sent:
		return dst, s.vectors.round.Wrap("encode", fl.Invalid(fl.ParamRecords, "the same sum", "must be in one report: send that report again"))
	}
	s.sent = true
	return s.report(dst, s.sum, s.records, s.rng), nil
}

// recordsOf returns the number of records of a report or share that has been checked, and 0 where reports are about clients.
func (v *vectors) recordsOf(share []byte) int64 {
	if v.records == 0 {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(share))
}

// checkRecords refuses a report or share, of the right length, of a number of records that no client has.
func (v *vectors) checkRecords(share []byte) error {
	if n := v.recordsOf(share); v.records > 0 && (n < 1 || n > v.records) {
		return count.BadReport(fl.ParamRecords, fmt.Sprint(n), "must be in [1, %d]", v.records)
	}
	return nil
}

// head is the length of what comes before a seed or a vector.
func (v *vectors) head() int {
	if v.records > 0 {
		return countBytes
	}
	return 0
}
