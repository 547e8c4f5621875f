package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// Every call of testdata/bad-calls.txt ends at once with its exit code, nothing on standard output
// and one line on standard error, which begins as the table says.
func TestBadCallsAreOneLine(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("testdata", "bad-calls.txt"))
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	round, reports := reportsOf(t, top)
	kept := written(t, top)
	calls := 0
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		calls++
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 {
			t.Fatalf("%q has %d columns", line, len(cells))
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		names := strings.NewReplacer("{dir}", dir, "{round}", round, "{reports}", reports, "{data}", filepath.Join(top, "clients.csv"), "{ledger}", kept, "{mechanisms}", strings.Join(fl.Mechanisms()[2:], ", "), "{empty}", filepath.Join(dir, "file"))
		code, stdout, stderr := boundedCall(t, names.Replace(cells[0]))
		if strconv.Itoa(code) != cells[1] || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, names.Replace(cells[2])) {
			t.Errorf("%s: exit code %d, printed %q and %q; want %s and %q", cells[0], code, stdout, stderr, cells[1], cells[2])
		}
	}
	if calls < 150 {
		t.Errorf("%d calls", calls)
	}
}

// boundedCall runs a command line that ends at once. "" stands for an empty argument, and quotes
// keep blanks.
func boundedCall(t *testing.T, line string) (code int, stdout, stderr string) {
	t.Helper()
	var args []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // for a call that serves and should not
	defer cancel()
	var out, errs bytes.Buffer
	code = command.Run(ctx, "hushgrad", dispatch, args, command.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("%s: it did not end", line)
	}
	return code, out.String(), errs.String()
}
