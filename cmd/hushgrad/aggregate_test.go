package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/estimates"
	"github.com/hushgrad/hushgrad/server/client"
)

// reportsOf makes a round and a file of reports of three clients.
func reportsOf(t *testing.T, dir string, flags ...string) (round, reports string) {
	t.Helper()
	round, reports = filepath.Join(dir, "round.json"), filepath.Join(dir, "reports")
	if _, err := os.Stat(round); err != nil {
		writeFile(t, dir, "round.json", do(t, "round", "--dim", "5", "--epsilon", "8", "--min-reports", "2", "--param", "sparsity=2"))
	}
	data := writeFile(t, dir, "clients.csv", "a,0,1\nb,1,-0.5\nc\n")
	do(t, append(append([]string{"encode", "--round", round, "--out", reports}, flags...), data)...)
	return round, reports
}

// copyOf copies a file.
func copyOf(t *testing.T, dir, name, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, dir, name, string(data))
}

// A file is counted once, under whatever name; files of the same clients that were encoded
// apart are different files.
func TestAFileIsCountedOnce(t *testing.T) {
	dir := t.TempDir()
	round, reports := reportsOf(t, dir)
	first := copyOf(t, dir, "first", reports)
	_, second := reportsOf(t, dir)
	out := filepath.Join(dir, "out")
	if text := do(t, "aggregate", "--round", round, "--out", out, first, second); !strings.HasPrefix(text, "6 reports") {
		t.Errorf("two files: %q", text)
	}
	for _, twice := range []string{first, copyOf(t, dir, "copy", first)} {
		var stdout bytes.Buffer
		err := dispatch(t.Context(), []string{"aggregate", "--round", round, first, second, twice}, command.Streams{Out: &stdout, Err: io.Discard})
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != "file" || !strings.HasSuffix(err.Error(), "must be counted once, and has the reports of "+first) || stdout.Len() > 0 {
			t.Errorf("%s: error %v, printed %q", twice, err, stdout.String())
		}
	}
}

// A file that lacks its end is refused, also where a report ends.
func TestACutFileIsNotCounted(t *testing.T) {
	dir := t.TempDir()
	round, reports := reportsOf(t, dir)
	data, err := os.ReadFile(reports)
	if err != nil {
		t.Fatal(err)
	}
	const trailer = 1 + 8 + 32
	for _, left := range []int{len(data) - 1, len(data) - trailer, len(data) - trailer + 1} {
		cut := writeFile(t, dir, "cut", string(data[:left]))
		var p *fl.ParamError
		if err := try(t, []string{"aggregate", "--round", round, cut}); !errors.As(err, &p) || !strings.Contains(err.Error(), "cut or unfinished") || !strings.HasPrefix(err.Error(), cut) {
			t.Errorf("%d of %d bytes: error %v", left, len(data), err)
		}
	}
}

// What encode --seed makes is marked in all that is printed and written.
func TestSeededReportsPromiseNothing(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		flags            []string
		seeded           float64
		guarantee, print string
	}{
		{nil, 0, "(ε=8, δ=0)-DP, local model, replace-one", "6 reports under (ε=8"},
		{[]string{"--seed", "3"}, 3, "", "6 reports under no guarantee"}, // and the unseeded ones from before
	} {
		if c.flags == nil {
			_, reports := reportsOf(t, dir)
			copyOf(t, dir, "first", reports)
		}
		var stdout, stderr, warned bytes.Buffer
		round, reports := filepath.Join(dir, "round.json"), filepath.Join(dir, "reports")
		encode := append([]string{"encode", "--round", round, "--out", reports}, c.flags...)
		if code := call(t.Context(), append(encode, filepath.Join(dir, "clients.csv")), io.Discard, &warned); code != 0 {
			t.Fatal(warned.String())
		}
		out := filepath.Join(dir, "out")
		if code := call(t.Context(), []string{"aggregate", "--round", round, "--out", out, filepath.Join(dir, "first"), reports}, &stdout, &stderr); code != 0 {
			t.Fatal(stderr.String())
		}
		for what, text := range map[string]string{"encode": warned.String(), "aggregate": stderr.String()} {
			if strings.Contains(text, "promise nothing") != (c.seeded > 0) {
				t.Errorf("%v: %s printed %q", c.flags, what, text)
			}
		}
		if !strings.HasPrefix(stdout.String(), c.print) {
			t.Errorf("%v: aggregate printed %q, want %q", c.flags, stdout.String(), c.print)
		}
		var fields map[string]any
		text, err := os.ReadFile(filepath.Join(out, "estimates.json"))
		if err == nil {
			err = json.Unmarshal(text, &fields)
		}
		guarantee, _ := fields["guarantee"].(string)
		_, said := fields["guarantee"]
		seeded, _ := fields["seeded_reports"].(float64)
		note, _ := fields["note"].(string)
		if err != nil || guarantee != c.guarantee || !said || seeded != c.seeded || strings.Contains(note, "promise nothing") != (c.seeded > 0) {
			t.Errorf("%v: estimates.json has guarantee %v, %v seeded reports, note %q, %v", c.flags, fields["guarantee"], seeded, note, err)
		}
	}
}

// Outputs get their names when they are whole: another name of the old file keeps the old
// content.
func TestOutputsAreReplaced(t *testing.T) {
	dir := t.TempDir()
	round, reports := reportsOf(t, dir)
	out := filepath.Join(dir, "out")
	plot := filepath.Join(dir, "curve.svg")
	for file, again := range map[string][]string{
		reports:                              {"encode", "--round", round, "--out", reports, filepath.Join(dir, "clients.csv")},
		plot:                                 {"account", "compose", "--epsilon", "1", "--plot", plot},
		filepath.Join(out, "estimates.csv"):  {"aggregate", "--round", round, "--out", out, reports},
		filepath.Join(out, "estimates.json"): {"aggregate", "--round", round, "--out", out, reports},
		filepath.Join(out, "mean.npy"):       {"aggregate", "--round", round, "--out", out, reports},
	} {
		do(t, again...)
		link := filepath.Join(dir, "link")
		if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Link(file, link)); err != nil {
			t.Fatal(err)
		}
		if err := try(t, again); err != nil {
			t.Fatal(err)
		}
		old, err := os.ReadFile(link)
		text, newErr := os.ReadFile(file)
		if err != nil || newErr != nil || string(old) != "old" || string(text) == "old" || file == plot && !strings.Contains(string(text), "<svg") {
			t.Errorf("%s: the old file has %q, %v, the new one %.20q, %v", file, old, err, text, newErr)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// What a failed or interrupted command would have replaced is left as it was.
func TestFailuresLeaveOutputsAlone(t *testing.T) {
	dir := t.TempDir()
	round, reports := reportsOf(t, dir)
	before, err := os.ReadFile(reports)
	if err != nil {
		t.Fatal(err)
	}
	bad := writeFile(t, dir, "bad.csv", "a,0,1\nb,9,1\n")
	if err := try(t, []string{"encode", "--round", round, "--out", reports, bad}); err == nil {
		t.Fatal("no error")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stderr bytes.Buffer
	if code := call(ctx, []string{"encode", "--round", round, "--out", reports, filepath.Join(dir, "clients.csv")}, io.Discard, &stderr); code != 130 {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if after, err := os.ReadFile(reports); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file of reports has changed: %v", err)
	}
	// Where results cannot go, nothing is read.
	file := writeFile(t, dir, "file", "")
	for _, args := range [][]string{
		{"aggregate", "--round", "absent", "--out", filepath.Join(file, "out"), "absent"}, {"encode", "--round", "absent", "--out", filepath.Join(file, "out"), "absent"},
	} {
		var p *fl.ParamError
		if err := try(t, args); !errors.As(err, &p) || p.Param != "--out" {
			t.Errorf("%v: error %v", args, err)
		}
	}
}

// An alarm is printed and counted.
func TestSuspectsArePrinted(t *testing.T) {
	e := fl.NewEstimate(fl.Round{}, fl.Guarantee{Trust: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}, 7, fl.Series{Value: []float64{0.5, 3}, StdErr: []float64{1, 2}})
	e.Suspects = []int{1}
	for form, want := range map[output]string{textOutput: "alarm: clients lie. More reports agree at 1 of the keys", jsonOutput: `"suspects": 1`} {
		var out bytes.Buffer
		if err := writeEstimates(t.Context(), estimates.Of(e), t.TempDir(), &out, &form); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q lacks %q, %v", out.String(), want, err)
		}
	}
}

// Who waits for a round is told so.
func TestAWaitIsSaid(t *testing.T) {
	t.Parallel() // it waits
	_, at := parts(t, run(t))
	operator := client.NewOperator(dialServe(t, at))
	if _, err := operator.OpenRound(t.Context(), quickRound("r")); err != nil {
		t.Fatal(err)
	}
	var said log
	ended := make(chan int)
	go func() {
		ended <- call(t.Context(), []string{"aggregate", "--server", at, "--round", "r", "--wait"}, io.Discard, &said)
	}()
	for end := time.Now().Add(time.Minute); !strings.Contains(said.String(), `waiting for round "r"`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got %q", said.String())
		}
	}
	if err := operator.AbortRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code == 0 || !strings.Contains(said.String(), "aborted") {
		t.Errorf("exit code %d: %q", code, said.String())
	}
}
