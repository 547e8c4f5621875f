package snapshot

import (
	"bytes"
	"testing"
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
	if _, err := Decode(round, len(payload)-1, data); err == nil {
		t.Error("a payload above the limit: want an error")
	}
	if _, err := Decode([32]byte{9}, len(payload), data); err == nil {
		t.Error("another round: want an error")
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
