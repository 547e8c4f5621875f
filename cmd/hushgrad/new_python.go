package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/module"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	requirements = "requirements.txt"
	environment  = ".venv"
)

// addRequirements adds what pip installs: the package of the clone or of this program's version, and otherwise the newest release.
func (n *newFlags) addRequirements(files map[string][]byte) error {
	source, version, err := n.find()
	if err != nil && n.source != "" {
		return err
	}
	files[requirements] = []byte(requirement(source, version) + "\npytest\n")
	return nil
}

// requirement is the line of requirements.txt for the Python package: of a clone, of a version in the form of Go modules, or of neither.
func requirement(source, version string) string {
	switch {
	case source != "":
		return "hushgrad @ file://" + path.Join("/", filepath.ToSlash(source), "python")
	case version == "":
		return "hushgrad"
	case module.IsPseudoVersion(version): // no release, which the package index would have
		commit, _ := module.PseudoVersionRev(version) // there is one
		return "hushgrad @ git+https://" + modulePath + "@" + commit + "#subdirectory=python"
	}
	return "hushgrad==" + strings.TrimPrefix(version, "v")
}

// inEnvironment returns the path of a program of the project's virtual environment.
func inEnvironment(program string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(environment, "Scripts", program+".exe")
	}
	return filepath.Join(environment, "bin", program)
}

// makeEnvironment makes the virtual environment of a project that is written, and has pip install into it. What Python and pip print goes to log.
func makeEnvironment(ctx context.Context, dir string, log io.Writer) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		if python, err = exec.LookPath("python"); err != nil {
			return fl.Invalid("--venv", true, "needs Python 3.10 or newer as python3 on PATH. The files are in %s. Once there is Python, type: cd %s && %s", dir, dir, toInstall)
		}
	}
	run := func(program string, args ...string) error {
		c := exec.CommandContext(ctx, program, args...)
		c.Dir, c.Stdout, c.Stderr = dir, log, log
		return errors.Join(ctx.Err(), c.Run())
	}
	fmt.Fprintf(log, "making %s\n", filepath.Join(dir, environment))
	err = run(python, "-m", "venv", environment)
	if err == nil {
		pip, absolute := filepath.Abs(filepath.Join(dir, inEnvironment("python")))
		if err = absolute; err == nil {
			err = run(pip, "-m", "pip", "install", "--disable-pip-version-check", "--requirement", requirements)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the files are in %s, but not what they need: %w. With a network, or with a pip that knows another index, type: cd %s && %s", dir, err, dir, toInstall)
	}
	return nil
}

// toInstall is what makeEnvironment does, to type in the project.
var toInstall = fmt.Sprintf("python3 -m venv %s && %s -m pip install -r %s", environment, inEnvironment("python"), requirements)
