package translog

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// Bytes that are taken for an entry are the bytes of that entry.
func FuzzEntry(f *testing.F) {
	data, _ := round(3).Marshal()
	f.Add(data)
	f.Add([]byte(`{"kind":"key","time":"2001-09-09T01:46:40Z","sha256":"00"}`))
	f.Add([]byte(`{"KIND":"round"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEntry(data)
		if err != nil {
			return
		}
		if again, err := e.Marshal(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%q is taken for %q, %v", data, again, err)
		}
	})
}

// A checkpoint or a proof that is taken is signed by the key, whatever was changed in it.
func FuzzCheckpointAndProof(f *testing.F) {
	key := newSigning(f, "t", false)
	keys := keysOf(f, key)
	l := openLog(f, f.TempDir(), key)
	must(f, l.Append(rounds(0, 5)...))
	proof, err := l.Proof(round(2).SHA256)
	must(f, err)
	if _, err := keys.Check(proof, round(2).SHA256); err != nil {
		f.Fatal(err)
	}
	f.Add(l.now.Signed)
	f.Add(proof)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := keys.Open(data); err == nil && (c.N != l.now.N || c.Hash != l.now.Hash) {
			t.Errorf("%q is taken for a checkpoint of %d entries", data, c.N)
		}
		if p, err := keys.Check(data, round(2).SHA256); err == nil && p.Index != 2 {
			t.Errorf("%q is taken for a proof of entry %d", data, p.Index)
		}
	})
}

// A bundle is cut into entries that are in it, as many as are wanted.
func FuzzBundle(f *testing.F) {
	f.Add(append(binary.BigEndian.AppendUint16(nil, 3), "abc"...), 1)
	f.Add([]byte{0, 0, 0, 0}, 2)
	f.Fuzz(func(t *testing.T, data []byte, w int) {
		if w < 1 || w > perTile {
			return
		}
		entries, err := splitBundle(data, w)
		if err != nil {
			return
		}
		var again []byte
		for _, e := range entries {
			again = append(binary.BigEndian.AppendUint16(again, uint16(len(e))), e...)
		}
		if len(entries) != w || !bytes.HasPrefix(data, again) {
			t.Errorf("%d entries of %x", len(entries), data)
		}
	})
}
