package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestTheCommandRepeatsTheRun(t *testing.T) {
	want := config{task: task{Dim: 70, Sparsity: 3, Epsilon: 0.5}, each: 20 * time.Millisecond}
	args := strings.Fields(strings.TrimPrefix(want.command(), "go run . "))
	if got, err := parseFlags(args, io.Discard); err != nil || got != want {
		t.Errorf("%q is %+v (%v), want %+v", args, got, err, want)
	}
}

func TestFlagsAreChecked(t *testing.T) {
	for _, args := range []string{"-dim 0", "-time 0s", "-time -1s", "more", "-unknown"} {
		if _, err := parseFlags(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
	var usage bytes.Buffer
	if _, err := parseFlags([]string{"-help"}, &usage); !errors.Is(err, flag.ErrHelp) || !strings.Contains(usage.String(), "-sparsity") {
		t.Errorf("-help: error %v, usage %q", err, &usage)
	}
}

// All real contenders go through one short run, and both outputs agree.
func TestRunMeasuresEveryContender(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	file := filepath.Join(t.TempDir(), "peers.json")
	var out bytes.Buffer
	if err := run(config{task: small, each: time.Millisecond, json: file}, &out); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 5 {
		t.Fatalf("%d rows, want 5", len(r.Rows))
	}
	for _, row := range r.Rows {
		if row.Bytes <= 0 || row.Join <= 0 || row.Client <= 0 || row.Server <= 0 || row.Finish <= 0 {
			t.Errorf("%s: a cost is not positive: %+v", row.Name, row)
		}
		if !strings.Contains(out.String(), row.Name) {
			t.Errorf("%s is missing in the table", row.Name)
		}
	}
	if err := run(config{task: task{Dim: 3, Sparsity: 4, Epsilon: 5}, each: time.Millisecond}, io.Discard); err == nil {
		t.Error("4 non-zeros among 3 coordinates: no error")
	}
}
