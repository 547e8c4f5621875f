//go:build cgo && linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// within is how long a program of a test may run. A library that hangs takes longer.
const within = 3 * time.Minute

// long runs what compiles all code of the library anew, for programs in C.
var long = flag.Bool("long", false, "build the library and run programs in C with it")

// build makes the library in a mode of go build, and returns the folder that holds it.
func build(t *testing.T, mode, name string) string {
	t.Helper()
	if !*long {
		t.Skip("runs with -long: builds the library, which takes a minute")
	}
	if _, err := exec.LookPath(compiler(t)); err != nil {
		t.Skipf("no C compiler: %v", err)
	}
	dir := t.TempDir()
	run(t, nil, "go", "build", "-ldflags=-s -w", "-buildmode="+mode, "-o", filepath.Join(dir, name), ".")
	return dir
}

// compiler is the C compiler that cgo uses.
func compiler(t *testing.T) string {
	t.Helper()
	return strings.Fields(run(t, nil, "go", "env", "CC"))[0]
}

// compile makes a program of a C file and returns its path.
func compile(t *testing.T, dir, source string, library ...string) string {
	t.Helper()
	program := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), ".c"))
	args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I.", "-o", program, source}, library...)
	run(t, nil, compiler(t), args...)
	return program
}

// run runs a program and returns what it prints.
func run(t *testing.T, in io.Reader, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Stdin = in
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.String())
	}
	return string(out)
}

// shared links a C file of testdata with the shared library.
func shared(t *testing.T, source string) string {
	t.Helper()
	dir := build(t, "c-shared", "libhushgrad.so")
	return compile(t, dir, source, "-L"+dir, "-lhushgrad", "-Wl,-rpath,"+dir)
}

// The example of the pages runs, with the library in it.
func TestTheExampleInCEstimatesTheMean(t *testing.T) {
	dir := build(t, "c-archive", "libhushgrad.a")
	out := run(t, nil, compile(t, dir, "../../examples/c/mean.c", filepath.Join(dir, "libhushgrad.a"), "-lpthread"))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 5 || lines[0] != "20000 reports" {
		t.Fatalf("printed\n%s", out)
	}
	for j, want := range []float64{0.4, -0.3, 0.2, -0.1} {
		var mean, stdErr float64
		if _, err := fmt.Sscanf(lines[j+1], "%f, standard error %f", &mean, &stdErr); err != nil {
			t.Fatal(err)
		}
		// The standard error is below 0.01. Ten of it have a probability below 1e-20.
		if !(stdErr > 0 && stdErr < 0.01 && mean > want-0.1 && mean < want+0.1) {
			t.Errorf("coordinate %d: %s, want %g", j, lines[j+1], want)
		}
	}
}

// requests writes requests for testdata/call.c.
type requests struct{ bytes.Buffer }

func (r *requests) add(header string, payload []byte) {
	fmt.Fprintf(r, "%d %d\n%s%s", len(header), len(payload), header, payload)
}

// answers reads what testdata/call.c writes.
type answers struct{ *bufio.Reader }

func (a answers) next(t *testing.T) (header map[string]any, payload []byte) {
	t.Helper()
	var sizes [2]int
	if _, err := fmt.Fscanf(a, "%d %d\n", &sizes[0], &sizes[1]); err != nil {
		t.Fatal(err)
	}
	both := make([]byte, sizes[0]+sizes[1])
	if _, err := io.ReadFull(a, both); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(both[:sizes[0]], &header); err != nil {
		t.Fatal(err)
	}
	return header, both[sizes[0]:]
}

// The test vectors of docs/report-format.md, in the form that the Python package checks, hold from
// C. An error is an answer.
func TestTheGoldenVectorsHoldFromC(t *testing.T) {
	text, err := os.ReadFile("../../python/tests/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Description, Digest, Snapshot string
		Reports                             []string
		Mean                                string `json:"mean_sha256"`
		StdErr                              string `json:"std_err_sha256"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	unhex := func(text string) []byte {
		data, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var in requests
	handle := 0
	for _, c := range cases {
		in.add(`{"op": "round.open", "args": {"policy": null}}`, unhex(c.Description))
		in.add(fmt.Sprintf(`{"op": "aggregator", "args": {"round": %d}}`, handle+1), nil)
		handle += 2
		in.add(fmt.Sprintf(`{"op": "add", "args": {"aggregator": %d}}`, handle), unhex(strings.Join(c.Reports, "")))
		in.add(fmt.Sprintf(`{"op": "snapshot", "args": {"aggregator": %d}}`, handle), nil)
		in.add(fmt.Sprintf(`{"op": "estimate", "args": {"aggregator": %d}}`, handle), nil)
	}
	in.add("nonsense", nil)
	program := shared(t, "testdata/call.c")
	out := answers{bufio.NewReader(strings.NewReader(run(t, &in, program)))}
	for _, c := range cases {
		opened, canonical := out.next(t)
		if a, ok := opened["answer"].(map[string]any); !ok || a["digest"] != c.Digest || hex.EncodeToString(canonical) != c.Description {
			t.Errorf("%s: opened %v", c.Name, opened)
		}
		out.next(t)
		if counted, _ := out.next(t); counted["answer"] == nil {
			t.Errorf("%s: %v", c.Name, counted)
		}
		if _, snapshot := out.next(t); hex.EncodeToString(snapshot) != c.Snapshot {
			t.Errorf("%s: snapshot %x, want %s", c.Name, snapshot, c.Snapshot)
		}
		_, numbers := out.next(t)
		half := len(numbers) / 2
		if runtime.GOARCH == "amd64" && (fmt.Sprintf("%x", sha256.Sum256(numbers[:half])) != c.Mean || fmt.Sprintf("%x", sha256.Sum256(numbers[half:])) != c.StdErr) {
			t.Errorf("%s: another estimate", c.Name)
		}
	}
	if refused, _ := out.next(t); refused["error"] == nil {
		t.Errorf("nonsense is answered by %v", refused)
	}
	if _, err := out.ReadByte(); !errors.Is(err, io.EOF) || len(cases) == 0 {
		t.Errorf("%d cases, then %v", len(cases), err)
	}
}

// This is why the Python package starts a helper process and does not load the library.
func TestTheLibraryDoesNotWorkInAForkedChild(t *testing.T) {
	out := strings.TrimSpace(run(t, nil, shared(t, "testdata/fork.c")))
	t.Log(out)
	if out != "the child hangs" && out != "the child fails" {
		t.Errorf("%q: look again whether a helper process is needed", out)
	}
}
