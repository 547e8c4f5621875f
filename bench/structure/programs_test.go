package structure

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// wholeProgram finds a whole program in Go on a page, and the block of text that has what it prints.
var wholeProgram = regexp.MustCompile("(?m)^```go\n(package main\n(?s:.*?))^```\n[^`]*^```text\n((?s:.*?))^```$")

// howToBuild finds the commands of docs/use.md that build a program with a clone and run it.
var howToBuild = regexp.MustCompile("<!-- run by " + programsTest + " -->\n```sh\n((?s:.*?))```\n")

// runProgram builds and runs a program as its reader does: as a module of its own, beside the clone.
func runProgram(t *testing.T, code string) (stdout, stderr string, err error) {
	t.Helper()
	commands := howToBuild.FindStringSubmatch(pages(t)["docs/use.md"])
	if commands == nil {
		t.Fatal("docs/use.md does not say how a program is built")
	}
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine")
	if err := errors.Join(os.Symlink(clone, filepath.Join(dir, "hushgrad")), os.Mkdir(mine, 0o700), os.WriteFile(filepath.Join(mine, "main.go"), []byte(code), 0o600)); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	c := exec.CommandContext(t.Context(), "sh", "-euc", commands[1])
	// The clone is at another path each time. Without paths in it, what was built before is found again.
	c.Dir, c.Env = mine, append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath")
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return out.String(), errs.String(), err
}

// A whole program on a page runs as it was pasted, outside of this module, and prints what the page says.
func TestProgramsOnPagesRun(t *testing.T) {
	if !*long {
		t.Skip("builds the module anew")
	}
	found, programs := pages(t), 0
	for _, page := range slices.Sorted(maps.Keys(found)) {
		shown := wholeProgram.FindAllStringSubmatch(found[page], -1)
		if all := strings.Count(found[page], "<!-- run by "+programsTest+" -->\n```go\npackage "); all != len(shown) {
			t.Errorf("%s has %d whole programs, and %d show what they print", page, all, len(shown))
		}
		for _, m := range shown {
			programs++
			if stdout, stderr, err := runProgram(t, m[1]); err != nil || stdout != m[2] {
				t.Errorf("%s: the program ends with %v, prints %q and %q, want %q", page, err, stdout, stderr, m[2])
			}
		}
	}
	if programs < 1 {
		t.Error("no page has a program")
	}
}

// A program that imports no mechanism learns which line it lacks.
func TestAProgramWithoutMechanismsLearnsWhatToImport(t *testing.T) {
	if !*long {
		t.Skip("builds the module anew")
	}
	m := wholeProgram.FindStringSubmatch(pages(t)["docs/use.md"])
	if m == nil {
		t.Fatal("docs/use.md has no program")
	}
	imported := regexp.MustCompile(`(?m)^\t(_ ".*/coco").*\n`)
	line := imported.FindStringSubmatch(m[1])
	if line == nil {
		t.Fatal("the program imports no mechanism")
	}
	_, stderr, err := runProgram(t, imported.ReplaceAllString(m[1], ""))
	if want := "no mechanism is registered: import one, for example " + line[1]; err == nil || !strings.Contains(stderr, want) {
		t.Errorf("it ends with %v and prints %q, want %q", err, stderr, want)
	}
}
