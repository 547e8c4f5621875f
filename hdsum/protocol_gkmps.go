package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/hdsum/internal/gkmps"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// gkmpsSum is a noisySum by package gkmps: an input is one message, and all noise is in
// the floods.
type gkmpsSum struct{ *gkmps.Protocol }

func (gkmpsSum) protocol() Protocol { return GKMPS }

func (s gkmpsSum) variance() float64 { return s.NoiseVariance() + s.RoundingVariance() }

func (gkmpsSum) payload(rounded int64) int64 {
	if rounded == 0 {
		return 0
	}
	return 1
}

func (s gkmpsSum) encode(dst []Message, r run, inputs []input, rng *rand.Rand) ([]Message, error) {
	for _, in := range inputs {
		instance := r.first + in.instance
		x, err := s.Round(in.value, rng)
		if err != nil {
			return dst, fmt.Errorf("hdsum: instance %d: %w", instance, err)
		}
		if x != 0 {
			dst = append(dst, Message{Instance: uint32(instance), Value: x, Count: 1})
		}
	}
	return dst, nil
}

func (s gkmpsSum) check(m Multiset, _ run) error {
	bound := s.Bound()
	for _, message := range m {
		if message.Value == 0 || message.Value > bound || message.Value < -bound || message.Count < 1 || message.Count > maxCount {
			return bad("messages", fmt.Sprintf("%d times %d in instance %d", message.Count, message.Value, message.Instance),
				"must be 1 to %d times a value in ±%d without 0", int64(maxCount), bound)
		}
	}
	return nil
}

// add wraps modulo 2^64. Only a client that claims absurd counts can bring that about.
func (gkmpsSum) add(sums []int64, m Multiset) {
	for _, message := range m {
		sums[message.Instance] += message.Value * message.Count
	}
}

func (gkmpsSum) merge(dst, src []int64) {
	for k, v := range src {
		dst[k] += v
	}
}

func (gkmpsSum) checkSum(int64) error { return nil }

func (s gkmpsSum) decode(sum int64) float64 { return float64(sum) * float64(s.Width()) }

func (s gkmpsSum) bits() float64 { return s.ExpectedMessages() * float64(s.MessageBits()) }

// cost is the cost of the floods. Any input but 0 adds one message. O(U).
func (s gkmpsSum) cost() Cost {
	c := Cost{Messages: s.ExpectedMessages(), Bits: s.bits()}
	// Equal messages form one entry: a value has one unless all floods that hold it
	// are without a cluster, and the clusters of a value add up.
	clusters := s.clusters()
	for _, f := range s.Floods() {
		share := f.Total.Share(s.Clients())
		own, size := share.Clusters(), share.Cluster()
		for k, v := range f.Messages {
			if slices.Contains(f.Messages[:k], v) {
				continue
			}
			all := clusters[s.Bound()+v]
			occurs := -math.Expm1(-all)
			entries := occurs * own / all // this flood's part
			c.Entries += entries
			c.Bytes += entries * (s.valueBytes() + 1 + countBytes(size, all/occurs))
		}
	}
	return c
}

// clusters is the expected number of clusters of a client's messages of each value
// from −U' to U'.
func (s gkmpsSum) clusters() []float64 {
	bound := s.Bound()
	count := make([]float64, 2*bound+1)
	for _, f := range s.Floods() {
		own := f.Total.Share(s.Clients()).Clusters()
		for k, v := range f.Messages {
			if !slices.Contains(f.Messages[:k], v) {
				count[bound+v] += own
			}
		}
	}
	return count
}

// valueBytes is the length of a signed value as a varint.
func (s gkmpsSum) valueBytes() float64 { return math.Ceil(float64(s.MessageBits()) / 7) }

// countBytes is about the expected length, as an uvarint, of the size of a number of
// clusters together: one byte, and one more for every power of 128 that it reaches.
func countBytes(size sample.Logarithmic, clusters float64) float64 {
	scale := math.Log1p(1 / size.Eta)
	expected := 1.0
	for limit := 128 / clusters; limit*size.Eta < 1; limit *= 128 {
		expected += min(1, max(0, (-math.Log(size.Eta*limit)-0.5772)/scale))
	}
	return expected
}
