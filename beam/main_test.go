package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

var long = flag.Bool("long", false, "estimate 10^7 reports, and compare the memory with that for 10^6")

// This command and hushgrad, which TestMain builds.
var beamProgram, hushgradProgram string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(built(m.Run))
}

// built runs tests with both programs.
func built(run func() int) int {
	dir, err := os.MkdirTemp("", "beam-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	beamProgram, hushgradProgram = filepath.Join(dir, "beam"), filepath.Join(dir, "hushgrad")
	for _, args := range [][]string{{"build", "-o", beamProgram, "."}, {"build", "-C", "..", "-o", hushgradProgram, "./cmd/hushgrad"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			panic(fmt.Sprintf("go %v: %v\n%s", args, err, out))
		}
	}
	return run()
}

// call runs a program for at most ten minutes. It returns what it printed, its exit code and its
// largest memory in bytes.
func call(t *testing.T, program string, args ...string) (stdout, stderr string, code int, memory int64) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	var out, err bytes.Buffer
	c := exec.CommandContext(ctx, program, args...)
	c.Stdout, c.Stderr = &out, &err
	if failed := c.Run(); failed != nil && c.ProcessState == nil {
		t.Fatal(failed)
	}
	return out.String(), err.String(), c.ProcessState.ExitCode(), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// fleet writes reports of clients into files in a directory, and the round beside them.
func fleet(t *testing.T, clients int) (round string, files []string) {
	t.Helper()
	r, m, err := fl.Complete(fl.Round{
		ID: "fleet", Mechanism: "coco", Dim: 7850, Scale: 1, Epsilon: 2, MinReports: 1,
		Params: fl.Params{"sparsity": fl.Int(8)}, PublicSeed: [32]byte{1}, Columns: []string{fl.ColumnFrequency},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text, err := protojson.Marshal(r.Proto())
	round = filepath.Join(dir, "round.json")
	if err = errors.Join(err, os.WriteFile(round, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{2}))
	x := fl.Ternary{Dim: r.Dim, Index: make([]uint32, 8), Sign: []int8{1, -1, 1, -1, 1, 1, 1, 1}}
	const parts = 5
	var report []byte
	for part := range parts {
		files = append(files, filepath.Join(dir, fmt.Sprintf("reports-%d", part)))
		file, err := os.Create(files[part])
		if err != nil {
			t.Fatal(err)
		}
		w, err := reportfile.NewWriter(file, r)
		for range clients / parts {
			for i := range x.Index {
				x.Index[i] = uint32(i*900) + rng.Uint32N(900)
			}
			report, err = m.(fl.SparseMechanism).EncodeTernary(report[:0], x, rng)
			if err = errors.Join(err, w.Write(report)); err != nil {
				t.Fatal(err)
			}
		}
		if err = errors.Join(err, w.Close(), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return round, files
}

// What the pipeline writes has the bytes of what hushgrad aggregate writes, and its memory does
// not grow with the number of reports.
func TestTheResultIsThatOfAggregate(t *testing.T) {
	sizes := []int{300_000}
	if *long {
		sizes = []int{1_000_000, 10_000_000}
	}
	var memory []int64
	for _, clients := range sizes {
		memory = append(memory, compare(t, "Prism", clients))
	}
	// 9·10^6 reports more, each with its 6 bytes in a slice of 24, would be 270 MB.
	if grown := memory[len(memory)-1] - memory[0]; grown > 100<<20 {
		t.Errorf("the memory grew by %d bytes", grown)
	}
}

// compare estimates a round of many reports on a runner, which flags choose, and by hushgrad
// aggregate. It reports files with other bytes, and returns the program's largest memory.
func compare(t *testing.T, runner string, clients int, flags ...string) (memory int64) {
	t.Helper()
	round, files := fleet(t, clients)
	out, want := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "want")
	began := time.Now()
	stdout, stderr, code, memory := call(t, beamProgram, append(append(flags, "--round", round, "--out", out), files...)...)
	if want := fmt.Sprintf("fleet: %d reports, in %s/fleet\n", clients, out); code != 0 || stdout != want || stderr != "" {
		t.Fatalf("exit code %d, printed %q and %q, want %q", code, stdout, stderr, want)
	}
	t.Logf("%d reports on %s: %v, largest memory %d MiB", clients, runner, time.Since(began).Round(time.Millisecond), memory>>20)
	began = time.Now()
	_, stderr, code, most := call(t, hushgradProgram, append([]string{"aggregate", "--round", round, "--out", want}, files...)...)
	if code != 0 {
		t.Fatal(stderr)
	}
	t.Logf("%d reports by hushgrad aggregate: %v, largest memory %d MiB", clients, time.Since(began).Round(time.Millisecond), most>>20)
	entries, err := os.ReadDir(want)
	if err != nil || len(entries) != 6 {
		t.Fatalf("%v, error %v", entries, err)
	}
	for _, e := range entries {
		a, errA := os.ReadFile(filepath.Join(want, e.Name()))
		b, errB := os.ReadFile(filepath.Join(out, "fleet", e.Name()))
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%d reports, %s: other bytes, or error %v", clients, e.Name(), err)
		}
	}
	return memory
}

// Wrong calls end with 2, failures with 1, and both with one line.
func TestCommandErrors(t *testing.T) {
	round, files := fleet(t, 10)
	data, err := os.ReadFile(files[0])
	cut := filepath.Join(t.TempDir(), "cut")
	if err = errors.Join(err, os.WriteFile(cut, data[:len(data)-1], 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no round":     {[]string{"--out", "o", "f"}, 2, `beam: --round: got "", rule: is required: a file of hushgrad round`},
		"no such file": {[]string{"--round", "absent", "--out", "o", "f"}, 2, `beam: --round absent: file: got "absent", rule: must be readable: open absent: no such file or directory`},
		"no round in":  {[]string{"--round", files[0], "--out", "o", "f"}, 2, "must hold a round"},
		"no out":       {[]string{"--round", round, "f"}, 2, `beam: --out: got "", rule: is required: a directory for the results`},
		"no reports":   {[]string{"--round", round, "--out", "o"}, 2, "beam: arguments: got 0, rule: at least one file of reports is required"},
		"no match":     {[]string{"--round", round, "--out", "o", "absent*"}, 2, `beam: arguments: got "absent*", rule: must be a file, or match one`},
		"no scheme":    {[]string{"--round", round, "--out", "o", "ftp://x"}, 2, `beam: arguments: got "ftp://x", rule: must be a path, or begin with gs:// or s3://`},
		"no such flag": {[]string{"--wrod"}, 2, `beam: flags: got "--wrod", rule: must be a flag of the command, see beam --help`},
		"one dash":     {[]string{"-round", round}, 2, `beam: flags: got "-round", rule: must be written with two dashes: --round`},
		"no boolean":   {[]string{"--digests=2x", "--round", round}, 2, `beam: --digests: got "2x", rule: must be a value of the flag, see beam --help`},
		"cut":          {[]string{"--round", round, "--out", filepath.Join(t.TempDir(), "o"), cut}, 1, fmt.Sprintf(`beam: %s: reportfile: report 2, at byte %d: file: got "a cut or unfinished file", rule: must end with its trailer`, cut, len(data)-41)},
	} {
		stdout, stderr, code, _ := call(t, beamProgram, c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, printed %q and %q, want %d and %q", name, code, stdout, stderr, c.code, c.want)
		}
	}
	if help, _, code, _ := call(t, beamProgram, "--help"); code != 0 || !strings.HasPrefix(help, "Usage: cd beam") || !strings.Contains(help, "--runner") {
		t.Errorf("help: exit code %d, %q", code, help)
	}
	stdout, _, code, _ := call(t, beamProgram, "--digests", "--round", round)
	r, err := readRound(round)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := r.Digest(); err != nil || code != 0 || stdout != fmt.Sprintf("%x fleet\n", digest) {
		t.Errorf("digests: exit code %d, %q, error %v", code, stdout, err)
	}
	keys, out := filepath.Join(t.TempDir(), "keys"), filepath.Join(t.TempDir(), "o")
	if err := os.WriteFile(keys, []byte("first\nsecond\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code, _ := call(t, beamProgram, append([]string{"--round", round, "--keys", keys, "--out", out}, files...)...); code != 0 {
		t.Fatal(stderr)
	}
	var got struct{ Estimates []struct{ Key string } }
	text, err := os.ReadFile(filepath.Join(out, "fleet", "estimates.json"))
	if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil || got.Estimates[1].Key != "second" || got.Estimates[2].Key != "2" {
		t.Errorf("keys %+v, error %v", got.Estimates[:3], err)
	}
}

// The example of docs/beam.md works as it stands there.
func TestThePageRuns(t *testing.T) {
	text := script(t, blocks(t, "TestThePageRuns", 1)[0])
	if !strings.Contains(text, "week-12: 600 reports, in ") || !strings.Contains(text, "estimates.parquet\n") {
		t.Errorf("printed\n%s", text)
	}
}

// blocks returns the n blocks of commands in docs/beam.md that a test runs.
func blocks(t *testing.T, test string, n int) (commands []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/beam.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range strings.Split(string(page), "<!-- run by "+test+" -->\n```sh\n")[1:] {
		text, _, _ := strings.Cut(rest, "```\n")
		commands = append(commands, text)
	}
	if len(commands) != n {
		t.Fatalf("the page has %d blocks for %s, want %d", len(commands), test, n)
	}
	return commands
}

// script runs commands in the repository's directory and returns what they printed.
func script(t *testing.T, commands string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	c.Dir = ".."
	c.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "PATH="+filepath.Dir(hushgradProgram)+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v, printed\n%s", err, out)
	}
	return string(out)
}
