package shuffler

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
)

// A secret of no round, which a crash has left, is destroyed at the next start. Other files stay.
func TestLeftSecretsAreDestroyed(t *testing.T) {
	dir := t.TempDir()
	v, err := openVault(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.create([32]byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, Config{Secrets: dir}, newRecorder())
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "id" || entries[1].Name() != "notes" {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

// What is destroyed is overwritten in its place before its name goes: whoever holds the file open, or
// knows it by another name, finds zeros.
func TestSecretsAreOverwritten(t *testing.T) {
	dir, round := t.TempDir(), [32]byte{1}
	v, err := openVault(filepath.Join(dir, "secrets"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := v.create(round)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other")
	if err := os.Link(v.path(round), other); err != nil {
		t.Skip(err)
	}
	if got, err := v.read(round); err != nil || got != raw {
		t.Errorf("%x, %v, want %x", got, err, raw)
	}
	if err := v.destroy(round); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(other); err != nil || !bytes.Equal(data, make([]byte, secretBytes)) {
		t.Errorf("the file has %x, %v", data, err)
	}
	if _, err := v.read(round); !errors.Is(err, errNoSecret) {
		t.Errorf("a secret that was destroyed: %v", err)
	}
	if err := v.destroy(round); err != nil {
		t.Errorf("destroyed again: %v", err)
	}
}

// Secrets that others can read are none.
func TestOpenSecretsAreRefused(t *testing.T) {
	v, err := openVault(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.create([32]byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(v.path([32]byte{1}), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := v.read([32]byte{1}); err == nil {
		t.Error("a file that the group reads was accepted")
	}
}

// A journal from a backup with a directory of secrets that is new releases nothing: neither of a round that the journal has, nor of one
// that came after the backup, of which nothing there knows whether its sum has left. Rounds of one server go on, and a
// shuffler that begins anew has rounds of two servers.
func TestALostVaultReleasesNothing(t *testing.T) {
	server := newRecorder()
	server.finish = func([]byte) error { return status.Error(codes.FailedPrecondition, "again") }
	p := start(t, Config{Secrets: t.TempDir()}, server)
	known, later := newSealedRound(t, sharedRound), newSealedRound(t, func(r *fl.Round) {
		sharedRound(r)
		r.ID = "later"
	})
	server.open(known.Round)
	server.open(later.Round)
	p.keeps(t, known, 29, 0, known.items(t, 29)...) // one is missing
	p.Shuffler.Close()
	for i, dir := range []string{filepath.Join(t.TempDir(), "missing"), t.TempDir(), ""} {
		cfg := p.cfg
		cfg.Secrets = dir
		restored := start(t, cfg, server)
		if now := restored.known("r").now(); now != phaseLost {
			t.Errorf("the round that was open is in phase %v", now)
		}
		restored.refuses(t, "the missing report", codes.Unavailable, known, known.items(t, 1)...)
		_, err := restored.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "later"})
		if status.Code(err) != codes.FailedPrecondition || fieldOf(err) != "secrets" || !strings.Contains(err.Error(), "aborts") {
			t.Errorf("%v, want an error about the directory of secrets", err)
		}
		restored.refuses(t, "a round of after the backup", codes.FailedPrecondition, later, later.items(t, 1)...)
		one := newSealedRound(t, func(r *fl.Round) { r.ID = fmt.Sprint("one-", i) })
		server.open(one.Round)
		restored.keeps(t, one, 1, 0, one.items(t, 1)...)
		restored.Shuffler.Close()
	}
	again := start(t, p.cfg, server) // with the right directory
	again.keeps(t, known, 1, 0, known.items(t, 1)...)
	again.keeps(t, later, 1, 0, later.items(t, 1)...)
	eventually(t, "a sum", func() bool { return again.vault.Check(known.digest) != nil })
	again.Shuffler.Close()
	anew := start(t, Config{Secrets: t.TempDir()}, server)
	anew.keeps(t, later, 1, 0, later.items(t, 1)...)
}
