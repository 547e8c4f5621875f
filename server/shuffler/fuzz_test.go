package shuffler

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzHead(f *testing.F) {
	r := newSealedRound(f, nil)
	encoded, err := r.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(head{Version: headVersion, Round: encoded, Check: make([]byte, checkBytes)})
	if err != nil {
		f.Fatal(err)
	}
	if _, got, err := parseHead(good); err != nil || !got.Equal(r.Round) {
		f.Fatalf("%v, %v", got, err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, r, err := parseHead(data)
		if err != nil {
			return
		}
		again, err := r.MarshalBinary()
		if err != nil || !bytes.Equal(again, h.Round) || len(h.Check) != checkBytes {
			t.Errorf("%q was read as %+v, %v", data, h, err)
		}
	})
}

func FuzzSecret(f *testing.F) {
	f.Add(make([]byte, secretBytes))
	f.Add(bytes.Repeat([]byte{1}, secretBytes))
	f.Fuzz(func(t *testing.T, data []byte) {
		raw, err := parseSecret(data)
		if zero := len(bytes.Trim(data, "\x00")) == 0; (err == nil) != (len(data) == secretBytes && !zero) {
			t.Errorf("%x: %v", data, err)
		}
		if err == nil && !bytes.Equal(raw[:], data) {
			t.Errorf("%x was read as %x", data, raw)
		}
	})
}

func FuzzOutcome(f *testing.F) {
	for _, o := range []outcome{forwarded, expired, withdrawn} {
		f.Add([]byte(o))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, err := parseOutcome(data); err == nil && string(o) != string(data) {
			t.Errorf("%q was read as %q", data, o)
		}
	})
}

// What the journal has at a key opens there alone, unchanged.
func FuzzValue(f *testing.F) {
	s, err := newSecret([secretBytes]byte{1})
	if err != nil {
		f.Fatal(err)
	}
	sealed := s.seal([]byte("key"), []byte("report"))
	if got, err := s.open([]byte("key"), sealed); err != nil || string(got) != "report" {
		f.Fatalf("%q, %v", got, err)
	}
	f.Add([]byte("key"), sealed)
	f.Add([]byte("yek"), sealed)
	f.Fuzz(func(t *testing.T, key, value []byte) {
		got, err := s.open(key, value) // nothing else was ever sealed, in no process of the fuzzer
		if err == nil && (string(key) != "key" || string(got) != "report") {
			t.Errorf("%x opens at %q as %q", value, key, got)
		}
	})
}
