package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
)

const usage = `Usage: go run ./bridge/web [--out DIR]

Builds the npm package for browsers. Run it in the directory of the module.

`

func main() { command.Main("web", run) }

func run(ctx context.Context, args []string, std command.Streams) error {
	f := flag.NewFlagSet("web", flag.ContinueOnError)
	f.SetOutput(std.Out)
	f.Usage = func() { fmt.Fprint(std.Out, usage); command.PrintFlags(std.Out, f) }
	out := f.String("out", filepath.Join("bridge", "web", "dist"), "`directory` for the package")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	plain, packed, err := build(ctx, *out)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "hushgrad.wasm: %.1f MB, %.1f MB with gzip\n%s\n", float64(plain)/1e6, float64(packed)/1e6, *out)
	return nil
}

// build writes the package and returns the sizes of the program, as it is and packed.
func build(ctx context.Context, out string) (plain, packed int64, err error) {
	root, err := output(ctx, "list", "-m", "-f", "{{.Dir}}", "github.com/hushgrad/hushgrad")
	if err != nil {
		return 0, 0, err
	}
	goroot, err := output(ctx, "env", "GOROOT")
	if err != nil {
		return 0, 0, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, 0, err
	}
	for _, file := range []string{
		filepath.Join(root, "LICENSE"), filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"),
		filepath.Join(root, "bridge", "web", "index.js"), filepath.Join(root, "bridge", "web", "index.d.ts"),
		filepath.Join(root, "bridge", "web", "package.json"), filepath.Join(root, "bridge", "web", "README.md"),
	} {
		if err := copyFile(filepath.Join(out, filepath.Base(file)), file); err != nil {
			return 0, 0, err
		}
	}
	program := filepath.Join(out, "hushgrad.wasm")
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "github.com/hushgrad/hushgrad/bridge/web/wasm")
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if text, err := compile.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("go build: %w\n%s", err, text)
	}
	if plain, packed, err = pack(program+".gz", program); err != nil {
		return 0, 0, err
	}
	return plain, packed, os.Remove(program)
}

// output returns what a command of Go prints.
func output(ctx context.Context, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// pack compresses a file and returns both sizes.
func pack(to, from string) (plain, packed int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return 0, 0, err
	}
	if plain, err = io.Copy(w, in); err != nil {
		return 0, 0, err
	}
	if err := w.Close(); err != nil {
		return 0, 0, err
	}
	packed, err = out.Seek(0, io.SeekCurrent)
	return plain, packed, err
}
