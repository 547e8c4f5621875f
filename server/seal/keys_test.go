package seal_test

import (
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
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

// A rotation: a key is pending, then it is the key of new rounds, and the one before opens what rounds need, until none does.
func TestARotation(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	keys, err := seal.OpenKeys(dir, seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	first, err := keys.Newest()
	if err != nil {
		t.Fatal(err)
	}
	second, err := keys.Rotate(seal.Hybrid, time.Now().Add(time.Hour))
	if err != nil || !second.Pending(time.Now()) || second.Pending(second.Changed()) {
		t.Fatalf("%v, from %v", err, second.Changed())
	}
	var wrong *fl.ParamError
	if _, err := keys.Rotate(seal.X25519, time.Now()); !errors.As(err, &wrong) {
		t.Errorf("a rotation in a rotation: %v", err)
	}
	nobody := func([]byte) bool { return false }
	removed, err := keys.Sweep(nobody)
	if newest, failed := keys.Newest(); errors.Join(err, failed) != nil || len(removed) > 0 || newest.Fingerprint() != first.Fingerprint() || !newest.Until().Equal(second.Changed()) {
		t.Errorf("before its time the key of new rounds is %v, until %v, removed %v, %v", newest.Fingerprint(), newest.Until(), removed, errors.Join(err, failed))
	}
	// The operator does not wait: the pending key is removed, and another one is active at once.
	if err := os.Remove(filepath.Join(dir, second.Fingerprint().String()[:16]+".key")); err != nil {
		t.Fatal(err)
	}
	third, err := keys.Rotate(seal.X25519, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	removed, err = keys.Sweep(func(public []byte) bool { return slices.Equal(public, first.Public()) })
	found, failed := keys.Find(first.Public())
	if newest, none := keys.Newest(); errors.Join(err, failed, none) != nil || len(removed) > 0 || newest.Fingerprint() != third.Fingerprint() || found.Suite() != first.Suite() {
		t.Errorf("the key of new rounds is %v, removed %v, %v", newest, removed, errors.Join(err, failed, none))
	}
	removed, err = keys.Sweep(nobody)
	if err != nil || len(removed) != 1 || removed[0] != first.Fingerprint() {
		t.Errorf("after the last round: removed %v, %v", removed, err)
	}
	if all, err := keys.All(); err != nil || len(all) != 1 {
		t.Errorf("%d keys are left, %v", len(all), err)
	}
	// A key that is to end and has no successor is the key of new rounds, as after a crash in the middle of a rotation.
	if _, err := keys.Rotate(seal.X25519, time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.key"))
	for _, file := range files {
		if filepath.Base(file) != third.Fingerprint().String()[:16]+".key" {
			err = errors.Join(err, os.Remove(file))
		}
	}
	time.Sleep(2 * time.Millisecond)
	removed, swept := keys.Sweep(nobody)
	if newest, none := keys.Newest(); errors.Join(err, swept, none) != nil || len(removed) > 0 || newest.Fingerprint() != third.Fingerprint() {
		t.Errorf("without a successor: %v, removed %v, %v", newest, removed, errors.Join(err, swept, none))
	}
}

// A key that is no file opens what was sealed to its public half.
func TestKeysAreParsed(t *testing.T) {
	for _, suite := range seal.Suites() {
		dir := t.TempDir()
		keys, err := seal.OpenKeys(filepath.Join(dir, "keys"), suite)
		if err != nil {
			t.Fatal(err)
		}
		key, err := keys.Newest()
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "keys", key.Fingerprint().String()[:16]+".key"))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		parsed, err := seal.ParseKey(key.Public(), block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		digest := [32]byte{1}
		sealer, err := seal.NewSealer(key.Public(), digest)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parsed.NewOpener(digest).Open(sealed(t, sealer, []byte("report"))); err != nil || string(got) != "report" || parsed.Suite() != suite {
			t.Errorf("%s: a parsed key of %s opens %q, %v", suite, parsed.Suite(), got, err)
		}
		other, err := seal.GenerateKey(suite)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			public, private []byte
			param           string
		}{
			"another public key": {other.Public(), block.Bytes, "private_key"}, "a short private key": {key.Public(), block.Bytes[1:], "private_key"},
			"no private key": {key.Public(), nil, "private_key"}, "another algorithm": {append([]byte{1}, key.Public()...), block.Bytes, "public_key"}, "no public key": {nil, block.Bytes, "public_key"},
		} {
			var wrong *fl.ParamError
			if _, err := seal.ParseKey(c.public, c.private); !errors.As(err, &wrong) || wrong.Param != c.param {
				t.Errorf("%s: %s: %v", suite, name, err)
			}
		}
	}
}

func TestKeyFilesThatCannotBeUsed(t *testing.T) {
	for what, change := range map[string]func(file string) error{
		"readable by others": func(file string) error { return os.Chmod(file, 0o644) },
		"empty":              func(file string) error { return os.Truncate(file, 0) },
		"cut":                func(file string) error { return os.Truncate(file, 60) },
		"a time that is none": func(file string) error {
			text, err := os.ReadFile(file)
			return errors.Join(err, os.WriteFile(file, []byte(strings.Replace(string(text), "Suite:", "From: noon\nSuite:", 1)), 0o600))
		},
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
