package count_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

func payload(t *testing.T, data []byte) (*count.Round, *count.Payload) {
	t.Helper()
	r, err := count.NewRound(round("a"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Payload(fltest.Snapshot(t, round("a"), data), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

func TestNumbersAreReadInTheirOrder(t *testing.T) {
	data := binary.AppendUvarint(nil, fl.MaxReports)
	data = binary.AppendUvarint(data, math.MaxUint64)
	data = binary.AppendVarint(data, math.MinInt64)
	data = binary.LittleEndian.AppendUint64(data, fl.MaxReports)
	data = binary.LittleEndian.AppendUint64(data, math.Float64bits(-0.5))
	data = append(data, 3, 'a', 'b', 'c', 0)
	r, p := payload(t, data)
	reports, largest, least := p.Reports(), p.Uvarint(math.MaxUint64), p.Varint(math.MinInt64, math.MaxInt64)
	word, half, part, none := p.WordReports(), p.Float(0.5), p.Part(), p.Part()
	if reports != fl.MaxReports || largest != math.MaxUint64 || least != math.MinInt64 || word != fl.MaxReports || half != -0.5 || string(part) != "abc" || len(none) != 0 {
		t.Errorf("%d, %d, %d, %d, %g, %q, %q", reports, largest, least, word, half, part, none)
	}
	if err := r.Finish(p); err != nil || !p.OK() {
		t.Error(err)
	}
}

func TestBadNumbersAreNamed(t *testing.T) {
	word := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	reports := func(p *count.Payload) any { return p.WordReports() }
	small := func(p *count.Payload) any { return p.Float(2) }
	signed := func(p *count.Payload) any { return p.Varint(-2, 3) }
	part := func(p *count.Payload) any { return len(p.Part()) }
	for name, c := range map[string]struct {
		data []byte
		read func(p *count.Payload) any
		zero any
	}{
		"7 bytes of a word":    {make([]byte, 7), reports, int64(0)},
		"too many reports":     {word(fl.MaxReports + 1), reports, int64(0)},
		"2^64 − 1 reports":     {word(math.MaxUint64), reports, int64(0)},
		"a zero of two bytes":  {[]byte{0x80, 0}, signed, int64(0)},
		"44 in two bytes":      {[]byte{0xac, 0}, func(p *count.Payload) any { return p.Uvarint(100) }, uint64(0)},
		"7 bytes of a float":   {make([]byte, 7), small, 0.},
		"NaN":                  {word(math.Float64bits(math.NaN())), small, 0.},
		"-Inf":                 {word(math.Float64bits(math.Inf(-1))), small, 0.},
		"a float above":        {word(math.Float64bits(2.1)), small, 0.},
		"a float below":        {word(math.Float64bits(-2.1)), small, 0.},
		"no varint":            {[]byte{0x80}, signed, int64(0)},
		"a varint above":       {binary.AppendVarint(nil, 4), signed, int64(0)},
		"a varint below":       {binary.AppendVarint(nil, -3), signed, int64(0)},
		"a varint of 11 bytes": {[]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, signed, int64(0)},
	} {
		r, p := payload(t, append([]byte{1}, c.data...))
		if p.Uvarint(1) != 1 || !p.OK() {
			t.Fatalf("%s: the number before it is refused", name)
		}
		if got := c.read(p); got != c.zero || p.OK() {
			t.Errorf("%s: %v, want %v and an error", name, got, c.zero)
		}
		param(t, name, r.Finish(p), "payload[1]")
		// What follows the first error changes nothing.
		p.Refuse("later", 0, "must not be named")
		if v := p.Uvarint(9) + uint64(p.Varint(-9, 9)) + uint64(p.Reports()) + uint64(p.WordReports()) + uint64(p.Float(9)) + uint64(len(p.Part())); v != 0 {
			t.Errorf("%s: numbers are read after it", name)
		}
		param(t, name, r.Finish(p), "payload[1]")
	}
	r, p := payload(t, []byte{3, 'a', 'b'})
	if part(p) != 0 || p.OK() {
		t.Error("a part that is longer than what is left: want an error")
	}
	param(t, "a part", r.Finish(p), "payload[1]")
	r, p = payload(t, []byte{1})
	p.Refuse("key 5", 7, "must be less")
	param(t, "refused by the reader", r.Finish(p), "key 5")
}
