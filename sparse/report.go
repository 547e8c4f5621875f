package sparse

import (
	"encoding/binary"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl/count"
)

// Report is what a client sends: the seed of its hash function and a slot.
//
// On the wire it is the seed in 4 bytes and the slot in as many bytes as slot
// t−1 needs, both little-endian.
type Report struct{ Seed, Slot uint32 }

// Codec reads and writes the reports of a round with a given number of slots.
type Codec struct{ slots uint32 }

// NewCodec returns the codec for t slots, t in [2, MaxSlots].
func NewCodec(slots int) Codec { return Codec{slots: uint32(slots)} }

// Bytes is the length of every report.
func (c Codec) Bytes() int { return 4 + (bits.Len32(c.slots-1)+7)/8 }

// Append appends the encoding of r to dst.
func (c Codec) Append(dst []byte, r Report) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, r.Seed)
	slot := r.Slot
	for range c.Bytes() - 4 {
		dst = append(dst, byte(slot))
		slot >>= 8
	}
	return dst
}

// Parse reads one report. The error wraps fl.ErrBadReport.
func (c Codec) Parse(b []byte) (Report, error) {
	if len(b) != c.Bytes() {
		return Report{}, count.BadReport("length", len(b), "must be %d bytes", c.Bytes())
	}
	r := Report{Seed: binary.LittleEndian.Uint32(b)}
	for i, x := range b[4:] {
		r.Slot |= uint32(x) << (8 * i)
	}
	if r.Slot >= c.slots {
		return Report{}, count.BadReport("slot", r.Slot, "must be below %d", c.slots)
	}
	return r, nil
}
