package structure

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The mechanisms of examples/mechanisms are a module of their own: public packages are enough to write them. The
// module is built in another place, from the modules that this one has.
func TestMechanismsOutsideOfTheModule(t *testing.T) {
	if !*long {
		t.Skip("links a program, which needs -long")
	}
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(clone, "go.sum"))
	err = errors.Join(err, os.CopyFS(dir, os.DirFS(filepath.Join(clone, "examples/mechanisms"))), os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*exec.Cmd{
		exec.CommandContext(t.Context(), "go", "mod", "edit", "-replace", module+"="+clone),
		exec.CommandContext(t.Context(), "go", "test", "-mod=mod", "-count=1", "."),
	} {
		c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, out)
		}
	}
}
