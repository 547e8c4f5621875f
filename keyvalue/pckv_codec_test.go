package keyvalue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// Bytes that are accepted are the only ones for what they show.
func FuzzUnaryReport(f *testing.F) {
	u := pckvOpen(f, PCKVUE, 300, 4, 1).pckvRandomizer
	for _, seed := range [][]byte{nil, {0}, {0xd7, 0x04}, {0xd8, 0x04}, {0x80}, {0x80, 0}, bytes.Repeat([]byte{1}, 300), bytes.Repeat([]byte{1}, 301)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		var again []byte
		last := -1
		err := u.read(report, func(key int, minus bool) {
			if key <= last || key >= 300 {
				t.Fatalf("key %d after %d", key, last)
			}
			again = binary.AppendUvarint(again, symbol(key-last-1, minus))
			last = key
		})
		if err != nil && !errors.Is(err, fl.ErrBadReport) {
			t.Fatalf("%v does not wrap ErrBadReport", err)
		}
		if err == nil && !bytes.Equal(again, report) {
			t.Fatalf("% x means the same as % x", report, again)
		}
	})
}

func FuzzResponseReport(f *testing.F) {
	g := pckvOpen(f, PCKVGRR, 300, 4, 1).pckvRandomizer
	for _, seed := range [][]byte{nil, {0}, {0, 0}, {0x5f, 0x02}, {0x60, 0x02}, {0, 0, 0}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, report []byte) {
		err := g.read(report, func(key int, minus bool) {
			if want := binary.LittleEndian.AppendUint16(nil, uint16(symbol(key, minus))); key >= 300 || !bytes.Equal(report, want) {
				t.Fatalf("% x shows key %d, minus %t", report, key, minus)
			}
		})
		if (err == nil) != (len(report) == 2 && binary.LittleEndian.Uint16(report) < 608) || err != nil && !errors.Is(err, fl.ErrBadReport) {
			t.Fatalf("% x: %v", report, err)
		}
	})
}

func TestMalformedReportsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		report []byte
		ok     bool
	}{
		{PCKVUE, nil, true}, {PCKVUE, []byte{18}, true}, {PCKVUE, []byte{20}, false}, {PCKVUE, []byte{16, 1}, true}, {PCKVUE, []byte{16, 2}, false},
		{PCKVUE, []byte{0x80}, false}, {PCKVUE, []byte{0x80, 0}, false}, {PCKVUE, bytes.Repeat([]byte{0xff}, 11), false},
		{PCKVGRR, nil, false}, {PCKVGRR, []byte{25}, true}, {PCKVGRR, []byte{26}, false}, {PCKVGRR, []byte{1, 0}, false},
	} {
		agg := pckvOpen(t, c.name, 10, 3, 1).NewAggregator()
		if err := agg.Add(c.report); (err == nil) != c.ok || err != nil && !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s, % x: %v", c.name, c.report, err)
		}
	}
}

// 2(d+ℓ) signed keys fit b bytes up to 2^8b of them.
func TestResponsesHaveTheLeastSize(t *testing.T) {
	for dim, want := range map[int]int{1: 1, 127: 1, 128: 2, 1<<15 - 1: 2, 1 << 15: 3, fl.MaxDim: 4} {
		if got := (&response{dim: dim, keys: dim + 1}).bytes(); got != want {
			t.Errorf("dim %d: %d bytes, want %d", dim, got, want)
		}
	}
}

// Without noise, what a client sends is what the server reads, at both ends of the keys.
func TestReportsShowTheSentPair(t *testing.T) {
	rng := exact.Rand{Rand: rand.New(rand.NewChaCha8([32]byte{9}))}
	silent := weights{high: 1 << 40, low: 0}
	for _, dim := range []int{1, 127, 128, 1 << 20} {
		for _, r := range []pckvRandomizer{
			&pckvUnary{dim: dim, weights: silent, background: silence{}},
			&response{dim: dim, keys: dim + 1, weights: silent},
		} {
			for _, key := range []int{0, dim / 2, dim - 1} {
				for _, minus := range []bool{false, true} {
					sent, shown := signedKey{key, minus}, 0
					for range 40 {
						if err := r.read(r.perturb(nil, sent, rng), func(k int, m bool) {
							shown++
							if (signedKey{k, m}) != sent {
								t.Errorf("%T, dim %d: sent %v, read key %d, minus %t", r, dim, sent, k, m)
							}
						}); err != nil {
							t.Fatal(err)
						}
					}
					if shown == 0 { // PCKV-UE shows it every second time: never with probability 2^-40
						t.Errorf("%T, dim %d: %v is never shown", r, dim, sent)
					}
				}
			}
		}
	}
}

type silence struct{}

func (silence) gap(limit uint64, _ exact.Chooser) uint64 { return limit }
