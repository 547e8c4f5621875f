package shuffler

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
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
	if err != nil || len(entries) != 1 || entries[0].Name() != "notes" {
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
