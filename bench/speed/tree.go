package speed

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/bench/speed/probe"
	"github.com/hushgrad/hushgrad/fl"
)

// A tree is the source of one revision, with the programs that were built from it.
type tree struct {
	source   string // its directory
	programs string
}

// source is the operations' source, to be built in another revision.
//
//go:embed probe/*.go
var source embed.FS

// program measures the works that it reads, one a line, and answers each with a line.
const program = `package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/hushgrad/hushgrad/bench/speed/probe"
)

func main() {
	var w probe.Work
	err := json.NewDecoder(os.Stdin).Decode(&w)
	var out map[string]float64
	if err == nil {
		out, err = probe.Measure(context.Background(), w)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
`

// moved are the packages that the operations use, and the folders that they may be in. A revision has them in
// the first one that there is.
var moved = map[string][]string{"privacy": {"privacy/compose", "privacy/pld", "privacy"}, "plan": {"plan", "auto"}}

const modulePath = "github.com/hushgrad/hushgrad"

// checkout returns the root of the checkout of this module that the working directory lies in, and ""
// if there is none. The error is ctx's error: a search that was interrupted has found nothing out.
func checkout(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", ctx.Err()
	}
	dir := strings.TrimSpace(string(root))
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(mod), "module "+modulePath+"\n") {
		return "", nil
	}
	return dir, nil
}

// extract writes the files of a revision of the checkout to a directory. Nothing in the checkout
// changes.
func extract(ctx context.Context, root, revision, dir string) error {
	name := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	commit, err := name.Output()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		return fl.Invalid("--base", revision, "must be a revision of the checkout")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	archive := filepath.Join(dir, "..", "archive.tar")
	if _, err := run(ctx, root, nil, "git", "archive", "-o", archive, strings.TrimSpace(string(commit))); err != nil {
		return err
	}
	_, err = run(ctx, dir, nil, "tar", "-xf", archive)
	return err
}

// build builds some of the measuring program, the hushgrad binary as releases have it, and the demo. The sources of
// the first are laid over the tree, in which no file changes.
func (t *tree) build(ctx context.Context, programs ...string) error {
	if err := os.MkdirAll(t.programs, 0o755); err != nil {
		return err
	}
	const place = "bench/speed/probe"
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	put := func(path, text string) error {
		file := filepath.Join(t.programs, strings.ReplaceAll(path, "/", "_"))
		overlay.Replace[filepath.Join(t.source, path)] = file
		return os.WriteFile(file, []byte(text), 0o644)
	}
	names, err := fs.Glob(source, "probe/*.go")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := source.ReadFile(name)
		if err != nil {
			return err
		}
		if err := put("bench/speed/"+name, t.renamed(string(text))); err != nil {
			return err
		}
	}
	if err := put(place+"/command/main.go", program); err != nil {
		return err
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return err
	}
	file := filepath.Join(t.programs, "overlay.json")
	if err := os.WriteFile(file, list, 0o644); err != nil {
		return err
	}
	from := map[string][]string{
		"probe":    {"-overlay", file, "./" + place + "/command"},
		"hushgrad": {"-trimpath", "-tags", "grpcnotrace,noman", "-ldflags", "-s -w", "./cmd/hushgrad"},
		"symbols":  {"-trimpath", "-tags", "grpcnotrace,noman", "-ldflags", "-w", "./cmd/hushgrad"}, // hushgrad with its symbols
		"demo":     {"./examples/mnist"},
	}
	for _, name := range programs {
		cmd := command(ctx, t.source, "go", append([]string{"build", "-buildvcs=false", "-o", t.program(name)}, from[name]...)...)
		cmd.Env = append(os.Environ(), "GOTMPDIR="+t.programs) // an interrupted build leaves files behind
		if name == "hushgrad" || name == "symbols" {
			cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
		}
		if _, err := output(ctx, cmd); err != nil {
			return fmt.Errorf("in %s: %w", t.source, err)
		}
	}
	return nil
}

func (t *tree) program(name string) string { return filepath.Join(t.programs, name) }

// renamed is a source file with the names that packages have in this tree.
func (t *tree) renamed(text string) string {
	for name, places := range moved {
		for _, place := range places {
			if _, err := os.Stat(filepath.Join(t.source, place)); err == nil {
				text = strings.ReplaceAll(text, `"`+modulePath+"/"+name+`"`, `"`+modulePath+"/"+place+`"`)
				break
			}
		}
	}
	return text
}

// measure does a work in a process of its own.
func (t *tree) measure(ctx context.Context, w probe.Work) (out map[string]float64, err error) {
	in, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	answer, err := run(ctx, t.programs, strings.NewReader(string(in)), t.program("probe"))
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal([]byte(answer), &out)
}

// size returns the size of the hushgrad binary.
func (t *tree) size() (map[string]float64, error) {
	info, err := os.Stat(t.program("hushgrad"))
	if err != nil {
		return nil, err
	}
	return map[string]float64{binarySize: float64(info.Size())}, nil
}

// demo runs the demo in an empty directory.
func (t *tree) demo(ctx context.Context) (map[string]float64, error) {
	dir, err := os.MkdirTemp(t.programs, "demo")
	if err != nil {
		return nil, err
	}
	began := time.Now()
	_, err = run(ctx, dir, nil, t.program("demo"))
	return map[string]float64{demoTime: time.Since(began).Seconds()}, err
}

// remove removes a directory. A compiler whose build was interrupted may be about to write a last file
// into it.
func remove(dir string) {
	for range 50 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// run returns the output of a command.
func run(ctx context.Context, dir string, in io.Reader, name string, args ...string) (string, error) {
	cmd := command(ctx, dir, name, args...)
	cmd.Stdin = in
	return output(ctx, cmd)
}

// command is interrupted when ctx ends, and not waited for long.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}
