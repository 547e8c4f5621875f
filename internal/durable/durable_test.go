package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hushgrad/hushgrad/internal/durable"
)

// A file is replaced whole, whatever a crash has left beside it, and a failure leaves the old one. What a power failure
// leaves is tested in bench/powercut.
func TestAFileIsReplacedWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := durable.MakeDir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first and longer", "second"} {
		if err := os.WriteFile(path+".new", []byte("what a crash has left, which is longer"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := durable.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want the file alone", left, err)
	}
	if err := os.Mkdir(path+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFile(path, []byte("third"), 0o600); err == nil {
		t.Error("a file that cannot be written is not refused")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "second" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestADirectoryThatIsNotThere(t *testing.T) {
	if err := durable.SyncDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
