// Package firststeps measures what a newcomer waits for: each command at the top of README.md, in a
// clone of the repository. Use it before a release. Start with go run ./bench first-steps --caches all.
//
// A command is run twice, in a clone of its own; with --caches keep once, in one clone for all. What it leaves beside the
// clone is removed in between.
package firststeps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:    "first-steps",
		Title:   "How long the first commands of README.md take",
		Source:  "Our own measurement; no paper",
		Kind:    experiment.ForMaintainers,
		Alone:   true,
		Without: []string{experiment.FlagData, experiment.FlagSeed, experiment.FlagRepeats},
		Bind: func(f *pflag.FlagSet) experiment.Run {
			s := setting{}
			f.StringVar(&s.root, "root", ".", "`directory` of the repository; what is not committed is not measured")
			f.StringVar(&s.caches, "caches", cachesBuild, "what is empty when a command is run first: keep (nothing: one run), build (Go's build cache), all (the modules, too, which are fetched)")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) { return s.run(ctx, env) }
		},
	}}
}

// What --caches takes.
const (
	cachesKeep  = "keep"
	cachesBuild = "build"
	cachesAll   = "all"
)

// tests is the command that --quick leaves out.
const tests = "go test ./..."

// setting is what the flags say.
type setting struct{ root, caches string }

func (s setting) run(ctx context.Context, env experiment.Env) (result *experiment.Result, err error) {
	if !slices.Contains([]string{cachesKeep, cachesBuild, cachesAll}, s.caches) {
		return nil, fl.Invalid("--caches", s.caches, "must be keep, build or all")
	}
	page, err := os.ReadFile(filepath.Join(s.root, "README.md"))
	if err != nil {
		return nil, fmt.Errorf("firststeps: %w", err)
	}
	typed, err := commands(string(page))
	if err != nil {
		return nil, err
	}
	out := &experiment.Result{
		Columns: []string{"command", "first_s", "again_s", "until"},
		Notes:   []string{"Each command has a clone and caches of its own, but with --caches keep.", "Seconds until the command ends, or until its page answers."},
		Quick:   env.Quick,
	}
	dir, err := os.MkdirTemp("", "hushgrad-first-steps-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for i, command := range typed {
		if env.Quick && command == tests {
			continue
		}
		own := filepath.Join(dir, strconv.Itoa(i))
		if s.caches == cachesKeep { // one clone, which is compiled once
			own = filepath.Join(dir, "all")
		}
		row, err := s.measure(ctx, command, own)
		if err != nil {
			return nil, fmt.Errorf("firststeps: %s: %w", command, err)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// commands returns the commands of a page's first block of shell code, without their comments.
func commands(page string) ([]string, error) {
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(page)
	if block == nil {
		return nil, errors.New("firststeps: README.md has no block of shell code")
	}
	var out []string
	for line := range strings.Lines(block[1]) {
		command, _, _ := strings.Cut(line, " #")
		if command = strings.TrimSpace(command); command != "" {
			out = append(out, command)
		}
	}
	return out, nil
}

// measure runs a command in a clone below dir, with caches as --caches says.
func (s setting) measure(ctx context.Context, command, dir string) (experiment.Row, error) {
	place := filepath.Join(dir, "place", "hushgrad")
	source, err := filepath.Abs(s.root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
		if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--depth=1", "file://"+source, place).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git clone: %w: %s", err, out)
		}
	}
	// Modules that may be written to can be removed.
	variables := append(os.Environ(), "TMPDIR="+dir, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -modcacherw"))
	if s.caches != cachesKeep {
		variables = append(variables, "GOCACHE="+filepath.Join(dir, "build"))
	}
	if s.caches == cachesAll {
		variables = append(variables, "GOMODCACHE="+filepath.Join(dir, "modules"))
	}
	first, until, err := run(ctx, command, place, variables)
	if err != nil {
		return nil, err
	}
	if s.caches == cachesKeep {
		return experiment.Row{command, nil, first.Seconds(), until}, nil
	}
	beside, err := filepath.Glob(filepath.Join(dir, "place", "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range beside {
		if path != place {
			if err := os.RemoveAll(path); err != nil {
				return nil, err
			}
		}
	}
	again, _, err := run(ctx, command, place, variables)
	if err != nil {
		return nil, err
	}
	return experiment.Row{command, first.Seconds(), again.Seconds(), until}, nil
}

// limit is how long a command may take: the tests on a slow machine.
const limit = time.Hour
