package server

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/seal"
)

// A key that has ended stays as long as an open round names it, and no longer. A server that does not know all rounds yet, because
// it reads them, removes none.
func TestAKeyStaysForItsRounds(t *testing.T) {
	keys, err := seal.OpenKeys(filepath.Join(t.TempDir(), "keys"), seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Seal: keys})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open := func(id string) []byte {
		t.Helper()
		r := smallRound()
		r.ID, r.Shuffler = id, "shuffler.example"
		opened, err := operatorService{Server: s}.OpenRound(t.Context(), &service.OpenRoundRequest{Round: r.Proto()})
		if err != nil {
			t.Fatal(err)
		}
		return opened.GetRound().GetSealKey()
	}
	old := open("old")
	if _, err := keys.Rotate(seal.X25519, time.Now()); err != nil {
		t.Fatal(err)
	}
	s.sweepKeys()
	if _, err := keys.Find(old); err != nil {
		t.Fatalf("the key of an open round is gone: %v", err)
	}
	s.recovered.Store(false)
	if _, err := (operatorService{Server: s}).AbortRound(t.Context(), &service.AbortRoundRequest{RoundId: "old"}); err != nil {
		t.Fatal(err)
	}
	s.sweepKeys()
	if _, err := keys.Find(old); err != nil {
		t.Errorf("a server that reads its rounds has removed a key: %v", err)
	}
	s.recovered.Store(true)
	s.sweepKeys()
	if _, err := keys.Find(old); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("after its last round: %v", err)
	}
	if next := open("new"); seal.FingerprintOf(next) == seal.FingerprintOf(old) {
		t.Error("a round after the rotation has the old key")
	}
}
