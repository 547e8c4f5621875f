package hdsum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/bbgn"
	"github.com/hushgrad/hushgrad/hdsum/internal/gkmps"
)

// bbgnSum is a noisySum by package bbgn: every input, 0 too, is split with its noise
// into the same number of shares, which add up modulo q.
type bbgnSum struct {
	*bbgn.Protocol
	bound int64 // U
}

func (bbgnSum) protocol() Protocol { return BBGN }

// Width implements noisySum: inputs are not rounded.
func (bbgnSum) Width() int64 { return 1 }

// Floods implements noisySum: all noise is in the shares.
func (bbgnSum) Floods() []gkmps.Flood { return nil }

// Round implements noisySum.
func (s bbgnSum) Round(x int64, _ *rand.Rand) (int64, error) {
	if x < 0 || x > s.bound {
		return 0, fl.Invalid("x", x, "must be in [0, %d]", s.bound)
	}
	return x, nil
}

func (s bbgnSum) variance() float64 { return s.NoiseVariance() }

func (s bbgnSum) payload(int64) int64 { return int64(s.Messages()) }

func (s bbgnSum) encode(dst []Message, r run, inputs []input, rng *rand.Rand) ([]Message, error) {
	shares := make([]uint64, 0, s.Messages())
	for instance := range r.count {
		var x int64
		if len(inputs) > 0 && inputs[0].instance == instance {
			x, inputs = inputs[0].value, inputs[1:]
		}
		var err error
		if shares, err = s.Encode(shares[:0], x, rng); err != nil {
			return dst, fmt.Errorf("hdsum: instance %d: %w", r.first+instance, err)
		}
		slices.Sort(shares) // cheaper here than among all messages
		for _, share := range shares {
			dst = append(dst, Message{Instance: uint32(r.first + instance), Value: int64(share), Count: 1})
		}
	}
	return dst, nil
}

func (s bbgnSum) check(m Multiset, r run) error {
	modulus, want := int64(s.Modulus()), int64(s.Messages())
	for instance := r.first; instance < r.end(); instance++ {
		var got int64
		for ; len(m) > 0 && int(m[0].Instance) == instance; m = m[1:] {
			if v := m[0].Value; v < 0 || v >= modulus || m[0].Count < 1 || m[0].Count > want {
				return bad("shares", fmt.Sprintf("%d times %d in instance %d", m[0].Count, v, instance),
					"must be 1 to %d times a share in [0, %d)", want, modulus)
			}
			got += m[0].Count
		}
		if got != want {
			return bad("shares", fmt.Sprintf("%d in instance %d", got, instance), "must be %d", want)
		}
	}
	return nil
}

// add adds modulo q. A count is at most a few dozen.
func (s bbgnSum) add(sums []int64, m Multiset) {
	for _, message := range m {
		sum := &sums[message.Instance]
		for range message.Count {
			*sum = int64(s.Add(uint64(*sum), uint64(message.Value)))
		}
	}
}

func (s bbgnSum) merge(dst, src []int64) {
	for k, v := range src {
		dst[k] = int64(s.Add(uint64(dst[k]), uint64(v)))
	}
}

func (s bbgnSum) checkSum(sum int64) error {
	if modulus := int64(s.Modulus()); sum < 0 || sum >= modulus {
		return fl.Invalid("sum", sum, "must be in [0, %d)", modulus)
	}
	return nil
}

func (s bbgnSum) decode(sum int64) float64 { return float64(s.Decode(uint64(sum))) }

func (s bbgnSum) bits() float64 { return float64(s.Messages()) * float64(s.MessageBits()) }

// cost is the same for any input.
func (s bbgnSum) cost() Cost {
	m, bits := float64(s.Messages()), float64(s.MessageBits())
	// Sorted shares are about q/m apart; instance and count take a byte each.
	gap := math.Ceil((bits + 1 - math.Log2(m)) / 7)
	return Cost{Messages: m, Bits: s.bits(), Entries: m, Bytes: m * (gap + 2)}
}
