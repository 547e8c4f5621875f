package seal

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A key that is pending is the key of new rounds where there is no other: the one before was removed by a clock that was ahead.
func TestAPendingKeyWithoutAnotherIsTheNewest(t *testing.T) {
	keys, err := OpenKeys(filepath.Join(t.TempDir(), "keys"), X25519)
	if err != nil {
		t.Fatal(err)
	}
	old, err := keys.Newest()
	if err != nil {
		t.Fatal(err)
	}
	next, err := keys.Rotate(X25519, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if newest, err := keys.Newest(); err != nil || newest.Fingerprint() != old.Fingerprint() {
		t.Errorf("before its time: %v, %v, want %v", newest, err, old)
	}
	if err := os.Remove(keys.file(old)); err != nil {
		t.Fatal(err)
	}
	if newest, err := keys.Newest(); err != nil || newest.Fingerprint() != next.Fingerprint() {
		t.Errorf("without another: %v, %v, want %v", newest, err, next)
	}
}
