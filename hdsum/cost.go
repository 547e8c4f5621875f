package hdsum

import (
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/hdsum/gkmps"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// Cost is what a client sends, in expectation, for an input of zeros.
type Cost struct {
	Messages float64
	// Bits is the size of the messages when each travels alone, without the
	// number of its instance.
	Bits float64
	// Entries is the number of entries of the multiset they form.
	Entries float64
	// Bytes is about the size of the report that holds the multiset, before zstd.
	Bytes float64
}

func (c Cost) times(k float64) Cost {
	return Cost{Messages: k * c.Messages, Bits: k * c.Bits, Entries: k * c.Entries, Bytes: k * c.Bytes}
}

func (c Cost) plus(o Cost) Cost {
	return Cost{Messages: c.Messages + o.Messages, Bits: c.Bits + o.Bits, Entries: c.Entries + o.Entries, Bytes: c.Bytes + o.Bytes}
}

// cost of an input 0; any other input adds one message with GKMPS and none with
// BBGN. O(U).
func (s *base) cost() Cost {
	if b := s.bbgn; b != nil {
		m := float64(b.Messages())
		// Sorted shares are about q/m apart; instance and count take a byte each.
		gap := math.Ceil((float64(b.MessageBits()+1) - math.Log2(m)) / 7)
		return Cost{Messages: m, Bits: m * float64(b.MessageBits()), Entries: m, Bytes: m * (gap + 2)}
	}
	messages := s.gkmps.ExpectedMessages()
	c := Cost{Messages: messages, Bits: messages * float64(s.gkmps.MessageBits())}
	// Equal messages form one entry: a value has one unless all floods that hold it
	// are without a cluster, and the clusters of a value add up.
	clusters := s.clusters()
	for _, f := range s.gkmps.Floods() {
		share := f.Total.Share(s.gkmps.Clients())
		for k, v := range f.Messages {
			if slices.Contains(f.Messages[:k], v) {
				continue
			}
			all := clusters[s.gkmps.Bound()+v]
			occurs := -math.Expm1(-all)
			entries := occurs * share.Clusters() / all // this flood's part
			c.Entries += entries
			c.Bytes += entries * (valueBytes(s.gkmps) + 1 + countBytes(share.Cluster(), all/occurs))
		}
	}
	return c
}

// clusters is the expected number of clusters of a client's messages of each value
// from −U' to U'.
func (s *base) clusters() []float64 {
	bound := s.gkmps.Bound()
	count := make([]float64, 2*bound+1)
	for _, f := range s.gkmps.Floods() {
		share := f.Total.Share(s.gkmps.Clients())
		for k, v := range f.Messages {
			if !slices.Contains(f.Messages[:k], v) {
				count[bound+v] += share.Clusters()
			}
		}
	}
	return count
}

// valueBytes is the length of a signed value as a varint.
func valueBytes(p *gkmps.Protocol) float64 { return math.Ceil(float64(p.MessageBits()) / 7) }

// countBytes is about the expected length, as an uvarint, of the size of so many
// clusters together: one byte, and one more for every power of 128 that it reaches.
func countBytes(size sample.Logarithmic, clusters float64) float64 {
	scale := math.Log1p(1 / size.Eta)
	expected := 1.0
	for limit := 128 / clusters; limit*size.Eta < 1; limit *= 128 {
		expected += min(1, max(0, (-math.Log(size.Eta*limit)-0.5772)/scale))
	}
	return expected
}
