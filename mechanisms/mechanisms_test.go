package mechanisms_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every package that registers a mechanism is linked by importing this one.
func TestEveryMechanismIsRegistered(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked, registering := strings.Fields(string(out)), 0
	err = filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"bench", "beam", "browser", "examples", "testdata"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		code, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(code, []byte("\tfl.Register(")) && !bytes.Contains(code, []byte("{ fl.Register(")) {
			return err
		}
		registering++
		if name := path.Join("github.com/hushgrad/hushgrad", filepath.ToSlash(filepath.Dir(file))[len("../"):]); !slices.Contains(linked, name) {
			t.Errorf("%s registers a mechanism and is not imported: add it to mechanisms.go", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if registering < 12 {
		t.Errorf("found %d files that register mechanisms", registering)
	}
}
