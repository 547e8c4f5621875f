package seal_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/shares"
	"github.com/hushgrad/hushgrad/server/seal"
)

// The vector is on docs/report-format.md, and was made with another implementation of HMAC.
func TestTheTagOfAShare(t *testing.T) {
	var key []byte
	for i := range byte(seal.TagBytes) {
		key = append(key, i)
	}
	share, tag := seal.Format{Tag: seal.TagBytes, Share: 3}.Second(append(key, 1, 2, 3))
	if want := "0253fba63c52e1f8d8d2befce65c8b973789c8ca6be6dc8157f304666110b34d"; !bytes.Equal(share, []byte{1, 2, 3}) || hex.EncodeToString(tag) != want {
		t.Errorf("% x with the tag %x, want %s", share, tag, want)
	}
	if share, tag := (seal.Format{Sealed: 3}).Second([]byte{1, 2, 3}); share != nil || tag != nil {
		t.Errorf("% x and % x in a round of one server", share, tag)
	}
}

// The first server could try gradients if a share had the same tag twice: it can make the share that
// belongs to a seed and a gradient.
func TestTheSameShareHasAnotherTagEachTime(t *testing.T) {
	r, m := sealedRound(t, shares.Name, seal.X25519, func(r *fl.Round) { r.Delta = 1e-6 })
	sealer, err := seal.NewItemSealer(r, m)
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Encode(nil, make([]float64, r.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, tags := sealer.Format(), map[string]bool{}
	for range 20 {
		item, err := sealer.Item(report, nil)
		if err != nil || len(item) != f.Item() {
			t.Fatalf("%d bytes, %v, want %d", len(item), err, f.Item())
		}
		share, tag := f.Second(item)
		if !bytes.Equal(share, report[f.Report:]) {
			t.Error("the share is another one")
		}
		tags[string(tag)] = true
	}
	if len(tags) != 20 {
		t.Errorf("%d tags of 20 items", len(tags))
	}
}
