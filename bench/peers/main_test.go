package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestTheCommandRepeatsTheRun(t *testing.T) {
	want := config{task: task{Dim: 70, Sparsity: 3, Epsilon: 0.5}, each: 20 * time.Millisecond}
	args := strings.Fields(strings.TrimPrefix(want.command(), "cd bench/peers && go run . "))
	if got, err := parseFlags(args, io.Discard); err != nil || got != want {
		t.Errorf("%q is %+v (%v), want %+v", args, got, err, want)
	}
}

func TestFlagsAreChecked(t *testing.T) {
	for _, args := range []string{"--dim 0", "--time 0s", "--time -1s", "more", "--unknown"} {
		if _, err := parseFlags(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
	var usage bytes.Buffer
	if _, err := parseFlags([]string{"--help"}, &usage); !errors.Is(err, flag.ErrHelp) || !strings.Contains(usage.String(), "--sparsity") {
		t.Errorf("--help: error %v, usage %q", err, &usage)
	}
}

// All real contenders go through one short run, and both outputs agree.
func TestRunMeasuresEveryContender(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), config{task: small, each: time.Millisecond, out: dir}, &out); err != nil {
		t.Fatal(err)
	}
	r, err := experiment.ReadRecord(filepath.Join(dir, "peers.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 5 {
		t.Fatalf("%d rows, want 5", len(r.Rows))
	}
	for _, row := range r.Rows {
		for _, cost := range []string{"bytes_per_client", "client_us_per_report", "server_us_per_report", "server_ratio_to_first", "client_setup_us_per_round", "sum_us_per_round"} {
			if v, ok := row[cost].(float64); !ok || v <= 0 {
				t.Errorf("%s: %s is %v", row["contender"], cost, row[cost])
			}
		}
		if name, ok := row["contender"].(string); !ok || !strings.Contains(out.String(), name) {
			t.Errorf("%v is missing in the table", row["contender"])
		}
	}
	if err := run(t.Context(), config{task: task{Dim: 3, Sparsity: 4, Epsilon: 5}, each: time.Millisecond}, io.Discard); err == nil {
		t.Error("4 non-zeros among 3 coordinates: no error")
	}
}
