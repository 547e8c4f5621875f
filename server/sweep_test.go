package server

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
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
	var log bytes.Buffer
	s, err := New(Config{Seal: keys, Logger: slog.New(slog.NewTextHandler(&log, nil))})
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
	s.sweepKeys()
	old := open("old")
	rotated, err := keys.Rotate(seal.X25519, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.sweepKeys()
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
	said := "new rounds have another key, to which reports are sealed\" fingerprint="
	if all := strings.Count(log.String(), said); all != 1 || !strings.Contains(log.String(), said+rotated.Fingerprint().String()) {
		t.Errorf("the log names the key of new rounds %d times, must name the rotated one once:\n%s", all, log.String())
	}
}
