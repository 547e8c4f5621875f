package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The project in Go compiles without a network. With -long it runs, too, learns and says what that
// cost; without it the tests of its own package show that.
func TestNewWritesARunnableProject(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mymodel")
	text := do(t, "new", "--source", filepath.Join("..", ".."), dir)
	if !strings.HasSuffix(text, "cd "+dir+" && go run .\n") || !strings.Contains(strings.Join(strings.Fields(text), " "), "as long as the clone stays there") || !strings.Contains(text, "-dropreplace="+modulePath) {
		t.Errorf("printed %q", text)
	}
	goTool := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "go", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	goTool("list", "--export", ".") // compiles, and links nothing
	if *long {
		goTool("vet", ".")
		out := goTool("run", ".", "--clients", "20000")
		for _, part := range []string{"round  1   1250 reports", "local privacy      ε = 4, δ = 0", "The budget is the local ε"} {
			if !strings.Contains(out, part) {
				t.Errorf("no %q in\n%s", part, out)
			}
		}
		if !regexp.MustCompile(`round 16 .* accuracy 0\.(6[5-9]|[7-9])`).MatchString(out) { // planned with privunit
			t.Errorf("nothing is learned:\n%s", out)
		}
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if lines := strings.Count(string(readme), "\n"); err != nil || lines > 30 {
		t.Errorf("README.md: %d lines, %v", lines, err)
	}
}

// Without --source a program that is no release builds with the clone that it is called in.
func TestNewFindsTheClone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "there")
	do(t, "new", dir)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	text, readErr := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err = errors.Join(err, readErr); err != nil || !strings.Contains(string(text), "replace github.com/hushgrad/hushgrad => "+root+"\n") || !strings.HasPrefix(string(text), "module there\n") {
		t.Errorf("%v: %.200s", err, text)
	}
}

// Below a workspace, such as the clone's, a project is a workspace of its own: Go would refuse to run it.
func TestNewInAWorkspace(t *testing.T) {
	outer := t.TempDir()
	do(t, "new", filepath.Join(outer, "before"))
	if err := os.WriteFile(filepath.Join(outer, "go.work"), []byte("go "+goVersion+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, "new", filepath.Join(outer, "deep", "after"))
	if _, err := os.Stat(filepath.Join(outer, "before", "go.work")); err == nil {
		t.Error("a workspace that nothing needs")
	}
	c := exec.CommandContext(t.Context(), "go", "list", ".")
	c.Dir, c.Env = filepath.Join(outer, "deep", "after"), append(os.Environ(), "GOPROXY=off", "GOWORK=")
	if out, err := c.CombinedOutput(); err != nil || string(out) != "after\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// Outside of a clone a program takes its own version, or else the clone that it was built in.
func TestNewOutsideOfAClone(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	do(t, "new", "a")
	if text, err := os.ReadFile("a/go.mod"); err != nil || !strings.Contains(string(text), " => "+root+"\n") {
		t.Errorf("%v: %.200s", err, text)
	}
	release = "1.2.3"
	t.Cleanup(func() { release = "" })
	if text := do(t, "new", "--module", "example.com/b", "b"); !strings.HasSuffix(text, "go mod tidy && go run .\n") || strings.Contains(text, "clone") {
		t.Errorf("printed %q", text)
	}
	text, err := os.ReadFile("b/go.mod")
	if want := "module example.com/b\n\ngo " + goVersion + "\n\nrequire github.com/hushgrad/hushgrad v1.2.3\n"; err != nil || string(text) != want {
		t.Errorf("%v: %s", err, text)
	}
}

// Where nothing says what to build with, the error says what to type. Paths of the machine that built a release are not in it.
func TestNewSaysWhereToTakeTheModuleFrom(t *testing.T) {
	if !*long {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", dir, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "hushgrad"), "new", "a")
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Type git clone https://github.com/hushgrad/hushgrad, and then --source hushgrad\n") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("a refused project is there")
	}
}

// What Go's proxy has is a release, or a commit that go install fetched. A build of a clone is neither.
func TestTheModuleProxyHasTheVersion(t *testing.T) {
	const commit = "v0.0.0-20260102030405-0123456789ab"
	for _, c := range []struct {
		of   build
		want string
	}{
		{build{Version: "v1.2.3"}, "v1.2.3"}, {build{Version: "v1.2.3", Commit: "0123"}, "v1.2.3"}, {build{Version: commit}, commit},
		{build{Version: commit, Commit: "0123"}, ""}, {build{Version: "v1.2.3+dirty"}, ""}, {build{Version: "(devel)"}, ""}, {build{}, ""},
	} {
		if got := released(c.of); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	if err := errors.Join(os.Mkdir(full, 0o700), os.WriteFile(filepath.Join(full, "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for param, args := range map[string][]string{
		"DIR":       {full},
		"DIR ":      {filepath.Join(full, "mine")},
		"--lang":    {"--lang", "cobol", filepath.Join(dir, "a")},
		"--source":  {"--source", full, filepath.Join(dir, "a")},
		"--module":  {"--module", "a b", filepath.Join(dir, "a")},
		"--module ": {"--lang", "python", "--module", "a", filepath.Join(dir, "a")},
		"--source ": {"--lang", "python", "--source", full, filepath.Join(dir, "a")},
		"arguments": {},
	} {
		var p *fl.ParamError
		if err := try(t, append([]string{"new"}, args...)); !errors.As(err, &p) || p.Param != strings.TrimSpace(param) {
			t.Errorf("%v: %v, want an error about %s", args, err, param)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
