package seal_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/server/seal"
)

// The vector is on docs/report-format.md, and was made with another implementation of HMAC.
func TestTheTagOfAShare(t *testing.T) {
	var key []byte
	for i := range byte(seal.TagBytes) {
		key = append(key, i)
	}
	tag := seal.TagOf(key, []byte{1, 2, 3})
	if want := "0253fba63c52e1f8d8d2befce65c8b973789c8ca6be6dc8157f304666110b34d"; hex.EncodeToString(tag) != want {
		t.Errorf("the tag is %x, want %s", tag, want)
	}
}

// sharedRound returns a round of a mechanism for two servers, and the second server's key.
func sharedRound(t testing.TB) (fl.Round, fl.Mechanism, *seal.Key) {
	t.Helper()
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	r, m := sealedRound(t, hdsum.SharesName, seal.X25519, func(r *fl.Round) { r.Delta, r.ShareKey = 1e-6, key.Public() })
	return r, m, key
}

// second seals and opens the second shares of a round.
type second struct {
	*seal.ItemSealer
	*seal.ShareOpener
}

func newSecond(t testing.TB, r fl.Round, m fl.Mechanism, key *seal.Key) second {
	t.Helper()
	sealer, err := seal.NewItemSealer(r, m)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := r.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return second{sealer, key.NewShareOpener(sealer.Format(), digest)}
}

func (s second) item(t testing.TB, m fl.Mechanism) (item, share []byte) {
	t.Helper()
	report, err := m.Encode(nil, make([]float64, 20), nil)
	if err == nil {
		item, err = s.Item(report, nil)
	}
	if err != nil || len(item) != s.Format().Item() {
		t.Fatalf("%d bytes, %v, want %d", len(item), err, s.Format().Item())
	}
	return item, report[s.Format().Report:]
}

// The first server could try gradients if a share had the same tag twice: it can make the share that
// belongs to a seed and a gradient.
func TestTheSameShareHasAnotherTagEachTime(t *testing.T) {
	r, m, key := sharedRound(t)
	s, tags := newSecond(t, r, m, key), map[string]bool{}
	report, err := m.Encode(nil, make([]float64, r.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		item, err := s.Item(report, nil)
		if err != nil {
			t.Fatal(err)
		}
		share, tag, err := s.Open(item)
		if err != nil || !bytes.Equal(share, report[s.Format().Report:]) {
			t.Errorf("the share is another one: %v", err)
		}
		tags[string(tag)] = true
	}
	if len(tags) != 20 {
		t.Errorf("%d tags of 20 items", len(tags))
	}
}

// A share opens with the key of its round, in its round, and behind its own sealed report alone. Otherwise the first
// server, who knows its seed, could have it counted as often as it likes.
func TestASealedShareOpensBehindItsOwnReportAlone(t *testing.T) {
	r, m, key := sharedRound(t)
	s := newSecond(t, r, m, key)
	item, share := s.item(t, m)
	other, _ := s.item(t, m)
	size := s.Format().Sealed
	if bytes.Contains(item, share[:16]) {
		t.Error("the share is there in clear")
	}
	wrong := map[string][]byte{
		"behind another report": slices.Concat(other[:size], item[size:]),
		"short":                 item[1:],
		"none":                  nil,
	}
	for _, at := range []int{0, size, size + 40, len(item) - 1} {
		changed := bytes.Clone(item)
		changed[at] ^= 1
		wrong[fmt.Sprintf("changed at %d", at)] = changed
	}
	for what, bad := range wrong {
		if _, _, err := s.Open(bad); !errors.Is(err, seal.ErrSealed) {
			t.Errorf("%s: %v, want ErrSealed", what, err)
		}
	}
	r.ID = "another"
	if _, _, err := newSecond(t, r, m, key).Open(item); !errors.Is(err, seal.ErrSealed) {
		t.Errorf("in another round: %v", err)
	}
	stranger, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	r.ID = "r"
	if _, _, err := newSecond(t, r, m, stranger).Open(item); !errors.Is(err, seal.ErrSealed) {
		t.Errorf("with another key: %v", err)
	}
	if got, _, err := s.Open(item); err != nil || !bytes.Equal(got, share) {
		t.Errorf("as it is: %v", err)
	}
}

func FuzzOpenShare(f *testing.F) {
	r, m, key := sharedRound(f)
	s := newSecond(f, r, m, key)
	item, _ := s.item(f, m)
	f.Add(item)
	f.Add(item[:s.Format().Sealed])
	f.Fuzz(func(t *testing.T, data []byte) {
		if share, _, err := s.Open(data); err == nil && len(share) != s.Format().Second {
			t.Errorf("a share of %d bytes", len(share))
		}
	})
}
