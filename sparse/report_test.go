package sparse

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestReportBytes(t *testing.T) {
	for _, c := range []struct {
		slots int
		slot  uint32
		want  []byte
	}{
		{2, 1, []byte{0x44, 0x33, 0x22, 0x11, 1}},
		{256, 255, []byte{0x44, 0x33, 0x22, 0x11, 255}},
		{257, 256, []byte{0x44, 0x33, 0x22, 0x11, 0, 1}},
		{1 << 16, 0xABCD, []byte{0x44, 0x33, 0x22, 0x11, 0xCD, 0xAB}},
		{1<<16 + 1, 1 << 16, []byte{0x44, 0x33, 0x22, 0x11, 0, 0, 1}},
		{MaxSlots, MaxSlots - 1, []byte{0x44, 0x33, 0x22, 0x11, 0xFF, 0xFF, 0xFF, 0x7F}},
	} {
		codec := NewCodec(c.slots)
		r := Report{Seed: 0x11223344, Slot: c.slot}
		got := codec.Append(nil, r)
		if !bytes.Equal(got, c.want) || len(got) != codec.Bytes() {
			t.Errorf("t=%d slot=%d: % x, want % x", c.slots, c.slot, got, c.want)
		}
		if back, err := codec.Parse(got); err != nil || back != r {
			t.Errorf("t=%d slot=%d: read back %+v, %v", c.slots, c.slot, back, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	codec := NewCodec(300)
	good := codec.Append(nil, Report{Seed: 7, Slot: 299})
	outside := bytes.Clone(good)
	outside[4]++ // slot 300
	for name, b := range map[string][]byte{
		"nothing": nil, "truncated": good[:5], "too long": append(bytes.Clone(good), 0), "slot outside": outside,
	} {
		if _, err := codec.Parse(b); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: error %v, want one wrapping ErrBadReport", name, err)
		}
	}
}

// Whatever Parse accepts, Append writes back.
func FuzzParse(f *testing.F) {
	f.Add(300, []byte{1, 2, 3, 4, 43, 1})
	f.Add(2, []byte{0, 0, 0, 0, 1})
	f.Add(1<<31, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, slots int, b []byte) {
		if slots < 2 || slots > MaxSlots {
			t.Skip()
		}
		codec := NewCodec(slots)
		r, err := codec.Parse(b)
		if err != nil {
			if !errors.Is(err, fl.ErrBadReport) || r != (Report{}) {
				t.Fatalf("Parse = %+v, %v", r, err)
			}
			return
		}
		if r.Slot >= uint32(slots) || !bytes.Equal(codec.Append(nil, r), b) {
			t.Fatalf("Parse(% x) = %+v does not write back", b, r)
		}
	})
}
