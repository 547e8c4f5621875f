package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/wrap"
)

// skeletons are projects to start from, one directory each. The one in Go is a program of
// this module, too, so that it is compiled and tested with it.
//
//go:embed skeleton/training/*.go skeleton/training/README.md skeleton/python/*.py skeleton/python/README.md
var skeletons embed.FS

// languages are the directories of the skeletons.
var languages = map[string]string{"go": "skeleton/training", "python": "skeleton/python"}

// modulePath is hushgrad's.
const modulePath = "github.com/hushgrad/hushgrad"

// newFlags are the flags of new.
type newFlags struct {
	language, source, module string
	venv                     bool
}

func newNew() *cobra.Command {
	n := &newFlags{}
	c := newCommand("new [flags] DIR", "write a training project with a model of your own", `Writes a project that trains a small model under differential privacy into a new directory,
with a test and a README. What to change for a model of your own is marked.

  hushgrad new mymodel && cd mymodel && go run .
  hushgrad new --lang python mymodel && cd mymodel && .venv/bin/python train.py`, func(ctx context.Context, args []string, std command.Streams) error {
		return n.write(ctx, args[0], std)
	})
	c.Args = oneArgument("directory")
	f := c.Flags()
	n.language = "go"
	command.OneOf(f, &n.language, "lang", "", slices.Sorted(maps.Keys(languages)), "go, or python for clients with the Python package")
	f.StringVar(&n.module, "module", "", "`path` of the module in Go; empty: the name of the directory")
	f.StringVar(&n.source, "source", "", "`directory` of a clone of hushgrad that the project is built with; empty: the version of this program, or else the clone that the working directory is in, or the clone that this program was built in")
	f.BoolVar(&n.venv, "venv", true, "with --lang python: make the project's virtual environment, and have pip install what it needs")
	return c
}

// write makes the project.
func (n *newFlags) write(ctx context.Context, dir string, std command.Streams) error {
	if n.language != "go" && n.module != "" {
		return fl.Invalid("--module", n.module, "needs --lang go")
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fl.Invalid("DIR", dir, "must be a directory, or a name that is free: %v", err)
	}
	if len(entries) > 0 {
		return fl.Invalid("DIR", dir, "must be empty, and has %s", entries[0].Name())
	}
	files, err := readSkeleton(languages[n.language])
	if err != nil {
		return err
	}
	note, then := "", inEnvironment("python")+" train.py"
	if n.language == "go" {
		note, then, err = n.addModule(dir, files)
	} else {
		err = n.addRequirements(files)
		if !n.venv {
			then = toInstall + " && " + then
		}
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fl.Invalid("DIR", dir, "must be a directory that can be made: %v", err)
	}
	for name, text := range files {
		if err := command.Replace(ctx, filepath.Join(dir, name), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			for name := range files { // half a project would keep the next attempt from this place
				_ = os.Remove(filepath.Join(dir, name))
			}
			return err
		}
	}
	if n.language == "python" && n.venv {
		if err := makeEnvironment(ctx, dir, std.Err); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(std.Out, "%s%d files in %s. Next: cd %s && %s\n", note, len(files), dir, dir, then)
	return err
}

// readSkeleton returns the files of a skeleton by name.
func readSkeleton(dir string) (map[string][]byte, error) {
	entries, err := skeletons.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = skeletons.ReadFile(path.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// addModule adds go.mod, and go.sum where there is a clone to take it from. It returns a line about
// that clone, and the commands that run the project.
func (n *newFlags) addModule(dir string, files map[string][]byte) (note, then string, err error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	name := cmp.Or(n.module, filepath.Base(at))
	if err := module.CheckImportPath(name); err != nil {
		return "", "", fl.Invalid("--module", name, "must be the path of a Go module: %v", err)
	}
	source, version, err := n.find()
	if err != nil {
		return "", "", err
	}
	m := &modfile.File{}
	if err := errors.Join(m.AddModuleStmt(name), m.AddGoStmt(goVersion)); err != nil {
		return "", "", err
	}
	if source != "" {
		if files["go.sum"], err = addClone(m, source); err != nil {
			return "", "", err
		}
		version = replaced
	}
	if err := m.AddRequire(modulePath, version); err != nil {
		return "", "", err
	}
	m.Cleanup()
	if files["go.mod"], err = m.Format(); err != nil {
		return "", "", err
	}
	if inWorkspace(at) { // as the clone is, which does not list the project
		files["go.work"] = []byte("go " + goVersion + "\n\nuse .\n")
	}
	if source == "" {
		return "", "go mod tidy && go run .", nil
	}
	note = wrap.Text(fmt.Sprintf("A replace in go.mod names the clone %s. The project works as long as the clone stays there. Once there is a release, type:", source), "")
	return note + fmt.Sprintf("  go get %s@latest && go mod edit -dropreplace=%[1]s && go mod tidy\n", modulePath), "go run .", nil
}

// inWorkspace says whether Go finds a go.work above a directory.
func inWorkspace(dir string) bool {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

const (
	// goVersion is the least version of Go for a project.
	goVersion = "1.26.0"
	// replaced is the version that go mod writes for a module in a directory.
	replaced = "v0.0.0-00010101000000-000000000000"
)

// find returns the clone to build with, or the version of this program that Go's module proxy has.
func (n *newFlags) find() (source, version string, err error) {
	if n.source != "" {
		source, err = filepath.Abs(n.source)
		if err == nil && !isClone(source) {
			err = fl.Invalid("--source", n.source, "must be a clone of hushgrad, with its go.mod")
		}
		return source, "", err
	}
	if version := released(thisBuild()); version != "" {
		return "", version, nil
	}
	working, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	for at := working; at != filepath.Dir(at); at = filepath.Dir(at) {
		if isClone(at) {
			return at, "", nil
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok { // a path of this machine, unless the program was built with -trimpath
		if at := filepath.Dir(filepath.Dir(filepath.Dir(file))); filepath.IsAbs(at) && isClone(at) {
			return at, "", nil
		}
	}
	return "", "", fl.Invalid("--source", "", "is required: this program is no release, and %s is in no clone of hushgrad. Type git clone https://%s, and then --source hushgrad", working, modulePath)
}

// released returns the version of a build that Go's module proxy has, in the form of Go modules, or "". Go leaves the commit in
// builds of a clone alone: a commit's version without it was fetched from the proxy.
func released(b build) string {
	version := b.Version
	if version == release && version != "" {
		version = "v" + strings.TrimPrefix(release, "v")
	}
	if !semver.IsValid(version) || semver.Build(version) != "" || module.IsPseudoVersion(version) && b.Commit != "" {
		return "" // of a clone
	}
	return version
}

// isClone says whether the module is in a directory.
func isClone(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(text) == modulePath
}

// addClone makes a module one that is built with a clone: it needs what the clone needs. It returns
// the checksums of all that.
func addClone(m *modfile.File, dir string) (sums []byte, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	clone, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	var required []*modfile.Require
	for _, r := range clone.Require {
		required = append(required, &modfile.Require{Mod: r.Mod, Indirect: true})
	}
	m.SetRequireSeparateIndirect(required)
	if err := m.AddReplace(modulePath, "", dir, ""); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "go.sum"))
}
