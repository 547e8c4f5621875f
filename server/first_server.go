package server

import (
	"crypto/sha256"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// firstServer is a mechanism for two servers as the first one counts it: a report is the id of a
// sealed share and then the share. Encode is the mechanism's, which makes others.
type firstServer struct{ fl.SharedMechanism }

// idBytes is the length of the id of a sealed share.
const idBytes = sha256.Size

// ReportBytes implements fl.ReportSizer.
func (m firstServer) ReportBytes() int { return idBytes + m.ShareBytes(fl.FirstServer) }

// NewAggregator implements fl.Mechanism.
func (m firstServer) NewAggregator() fl.Aggregator {
	sum, err := m.NewShareAggregator(fl.FirstServer)
	if err != nil {
		panic(err) // newSealing has tried it
	}
	return &firstSum{sum}
}

// firstSum is the sum of the first server's shares as an fl.Aggregator.
type firstSum struct{ fl.ShareAggregator }

// Add implements fl.Aggregator.
func (s *firstSum) Add(report []byte) error {
	if len(report) < idBytes {
		return fmt.Errorf("%w: %w", fl.ErrBadReport, fl.Invalid("report", fmt.Sprintf("%d bytes", len(report)), "must begin with an id of %d", idBytes))
	}
	return s.ShareAggregator.Add(report[:idBytes], report[idBytes:])
}

// Merge implements fl.Aggregator.
func (s *firstSum) Merge(other fl.Aggregator) error {
	o, ok := other.(*firstSum)
	if !ok {
		return fl.Invalid("aggregator", fmt.Sprintf("%T", other), "must be the first server's")
	}
	return s.ShareAggregator.Merge(o.ShareAggregator)
}

// Estimate implements fl.Aggregator. The sum of one server is none.
func (s *firstSum) Estimate() (*fl.Estimate, error) {
	return nil, fmt.Errorf("%w: %w", fl.ErrUnmatched, fl.Invalid("sums", 1, "must be the sums of two servers"))
}
