package seal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/seal"
)

func TestKeysAreKeptAndRotated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	keys, err := seal.OpenKeys(dir, seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	first, err := keys.Newest()
	if err != nil {
		t.Fatal(err)
	}
	// A file system may keep whole seconds only.
	old := filepath.Join(dir, first.Fingerprint().String()[:16]+".key")
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	second, err := keys.Add(seal.Hybrid)
	if err != nil {
		t.Fatal(err)
	}
	again, err := seal.OpenKeys(dir, seal.X25519) // as the next process does
	if err != nil {
		t.Fatal(err)
	}
	if newest, err := again.Newest(); err != nil || newest.Fingerprint() != second.Fingerprint() || newest.Suite() != seal.Hybrid {
		t.Errorf("the newest key is %v, %v, want %v", newest, err, second)
	}
	digest := [32]byte{1}
	sealer, err := seal.NewSealer(first.Public(), digest)
	if err != nil {
		t.Fatal(err)
	}
	found, err := again.Find(first.Public())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := found.NewOpener(digest).Open(sealed(t, sealer, []byte("report"))); err != nil || string(got) != "report" {
		t.Errorf("a rotated key opens %q, %v", got, err)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Find(first.Public()); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("a removed key: %v", err)
	}
}

func TestKeyFilesThatCannotBeUsed(t *testing.T) {
	for what, change := range map[string]func(file string) error{
		"readable by others": func(file string) error { return os.Chmod(file, 0o644) },
		"empty":              func(file string) error { return os.Truncate(file, 0) },
		"cut":                func(file string) error { return os.Truncate(file, 60) },
		"another suite": func(file string) error {
			text, err := os.ReadFile(file)
			text = slices.Concat(text[:len("-----BEGIN HUSHGRAD SEAL PRIVATE KEY-----\nSuite: ")], []byte("y"), text[len("-----BEGIN HUSHGRAD SEAL PRIVATE KEY-----\nSuite: ")+1:])
			return errors.Join(err, os.WriteFile(file, text, 0o600))
		},
	} {
		dir := t.TempDir()
		if _, err := seal.OpenKeys(dir, seal.X25519); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		if err := change(files[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.OpenKeys(dir, seal.X25519); err == nil {
			t.Errorf("%s: the file was accepted", what)
		}
	}
	if _, err := seal.OpenKeys(t.TempDir(), "rot13"); err == nil {
		t.Error("an unknown suite was accepted")
	}
}
