package snapshot

import (
	"bytes"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

func TestRoundTripAndRefusals(t *testing.T) {
	round := [32]byte{1, 2, 3}
	payload := bytes.Repeat([]byte("counts "), 1000)
	data, err := Encode(round, payload)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(round, payload)
	if err != nil || !bytes.Equal(again, data) {
		t.Error("equal payloads have different snapshots")
	}
	if back, err := Decode(round, len(payload), data); err != nil || !bytes.Equal(back, payload) {
		t.Fatalf("read back %d bytes, %v", len(back), err)
	}
	for param, decode := range map[string]func() ([]byte, error){
		"payload": func() ([]byte, error) { return Decode(round, len(payload)-1, data) },
		"round":   func() ([]byte, error) { return Decode([32]byte{9}, len(payload), data) },
		"format":  func() ([]byte, error) { return Decode(round, len(payload), append([]byte("hga2"), data[4:]...)) },
		"length":  func() ([]byte, error) { return Decode(round, len(payload), nil) },
	} {
		var p *fl.ParamError
		if _, err := decode(); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v, want a ParamError for %s", err, param)
		}
	}
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x10
		if back, err := Decode(round, len(payload), damaged); err == nil && !bytes.Equal(back, payload) {
			t.Fatalf("byte %d damaged: read back another payload", i)
		}
		if _, err := Decode(round, len(payload), data[:i]); err == nil {
			t.Fatalf("%d of %d bytes: want an error", i, len(data))
		}
	}
}

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

func FuzzDecode(f *testing.F) {
	data, err := Encode([32]byte{}, []byte("some counts"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if payload, err := Decode([32]byte{}, 1000, data); err == nil && len(payload) > 1000 {
			t.Fatalf("%d bytes came through a limit of 1000", len(payload))
		}
	})
}
