package snapshot

import (
	"bytes"
	"testing"
)

// Every bit of the magic bytes and of the digest counts, and the header alone is
// no snapshot.
func TestEveryByteOfTheHeaderCounts(t *testing.T) {
	round := [32]byte{1, 2, 3, 31: 0xFF}
	data, err := Encode(round, []byte("counts"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data[:4], []byte("hga1")) || !bytes.Equal(data[4:headerBytes], round[:]) {
		t.Errorf("the header is % x, want hga1 and the digest", data[:headerBytes])
	}
	for i := range headerBytes {
		for bit := range 8 {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << bit
			if _, err := Decode(round, 100, damaged); err == nil {
				t.Errorf("bit %d of byte %d of the header is flipped: want an error", bit, i)
			}
		}
	}
	for n := range headerBytes + 1 {
		if _, err := Decode(round, 100, data[:n]); err == nil {
			t.Errorf("%d bytes: want an error", n)
		}
	}
	if payload, err := Decode(round, 6, data); err != nil || string(payload) != "counts" {
		t.Errorf("undamaged: %q, %v", payload, err)
	}
}
