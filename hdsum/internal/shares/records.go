package shares

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// ParamRecords is the name of the parameter of a round whose reports are sums of records: the most records that
// all clients have together.
const ParamRecords = "records"

// maxRecords is the largest value of ParamRecords.
const maxRecords = math.MaxUint32

// countBytes is the length of the number of records, with which every share of such a round begins.
const countBytes = 4

// readRecords returns the most records of a round, and 0 for a round whose reports are about clients.
func readRecords(p fl.Params) (int64, error) {
	if err := p.Only(ParamRecords); err != nil || !p.Has(ParamRecords) {
		return 0, err
	}
	n, err := p.Int(ParamRecords)
	if err == nil && (n < 1 || int64(n) > maxRecords) {
		err = fl.Invalid(ParamRecords, n, "must be in [1, %d]", int64(maxRecords))
	}
	return int64(n), err
}

// recordSum implements fl.RecordSum.
type recordSum struct {
	mechanism *mechanism
	rng       *rand.Rand
	sum       []int64
	records   int64
	sent      bool

	rotated []float64 // of a record
	rounded []int64
}

// NewRecordSum implements fl.RecordMechanism. It takes 24·d' bytes.
func (m *mechanism) NewRecordSum(rng *rand.Rand) (fl.RecordSum, error) {
	if m.records == 0 {
		return nil, fmt.Errorf("%s: %w", Name, fl.Invalid(ParamRecords, "nothing", "must be the most records that all clients have together, for reports of sums"))
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	d := m.ring.length
	return &recordSum{mechanism: m, rng: rng, sum: make([]int64, d), rotated: make([]float64, d), rounded: make([]int64, d)}, nil
}

// Add implements fl.RecordSum. Every record is clipped, rounded and bounded by itself, because rounding their sum would
// have a sensitivity √d' times as large. Expected time O(d' log d').
func (s *recordSum) Add(grad []float64) error {
	m := s.mechanism
	if s.records == m.records {
		return fmt.Errorf("%s: add: %w", Name, fl.Invalid(ParamRecords, s.records+1, "must be at most %d, as the round says", m.records))
	}
	if want := m.integers.rotation.Dim(); len(grad) != want {
		return fmt.Errorf("%s: add: %w", Name, fl.Invalid("gradient", fmt.Sprintf("%d numbers", len(grad)), "must have %d", want))
	}
	s.records++
	for _, v := range grad {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	if err := m.integers.into(s.rounded, s.rotated, grad, s.rng); err != nil {
		return fmt.Errorf("%s: add: %w", Name, err)
	}
	for i, v := range s.rounded {
		s.sum[i] += v
	}
	return nil
}

// Records implements fl.RecordSum.
func (s *recordSum) Records() int { return int(s.records) }

// Append implements fl.RecordSum.
func (s *recordSum) Append(dst []byte) ([]byte, error) {
	switch {
	case s.records == 0:
		return dst, fmt.Errorf("%s: encode: %w", Name, fl.Invalid(ParamRecords, 0, "must be at least 1"))
	case s.sent:
		return dst, fmt.Errorf("%s: encode: %w", Name, fl.Invalid(ParamRecords, "the same sum", "must be in one report: send that report again"))
	}
	s.sent = true
	first, second := s.mechanism.split(dst, nil, s.sum, s.records, s.rng)
	return append(first, second...), nil
}

// recordsOf returns the number of records of a share that has been checked, and 0 where reports are about clients.
func (m *mechanism) recordsOf(share []byte) int64 {
	if m.records == 0 {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(share))
}

// checkRecords refuses a share, of the right length, of a number of records that no client has.
func (m *mechanism) checkRecords(share []byte) error {
	if n := m.recordsOf(share); m.records > 0 && (n < 1 || n > m.records) {
		return count.BadReport(ParamRecords, fmt.Sprint(n), "must be in [1, %d]", m.records)
	}
	return nil
}

// head is the length of what comes before a share's seed or vector.
func (m *mechanism) head() int {
	if m.records > 0 {
		return countBytes
	}
	return 0
}
