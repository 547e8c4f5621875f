package history_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/history"
)

// three rounds with more reports in each, and an ε from the second on.
func three(t *testing.T) (*history.History, string) {
	t.Helper()
	var out strings.Builder
	h, err := history.New(&out, history.Accuracy, true)
	if err != nil {
		t.Fatal(err)
	}
	if h.Score() != 0 || h.BytesPerReport() != 0 {
		t.Errorf("before the first round: accuracy %g, %g bytes", h.Score(), h.BytesPerReport())
	}
	half, two := 0.5, 2.25
	for _, r := range []history.Round{
		{Round: 1, Score: 0.75, Loss: 1.5, Reports: 300, Bytes: 2100, Seconds: 0.25},
		{Round: 2, Score: 0.8125, Loss: 1.25, Reports: 301, Bytes: 2107, Seconds: 1.0625, EpsilonLocal: &two, EpsilonCentral: &half},
		{Round: 3, Score: 0.78125, Loss: 1.375, Reports: 399, Bytes: 3793, Seconds: 2, EpsilonCentral: &half},
	} {
		if err := h.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return h, out.String()
}

func TestTheTableHasOneLinePerRound(t *testing.T) {
	h, text := three(t)
	want := "round  accuracy     loss  reports      bytes  local ε  central ε      s\n" +
		"    1    0.7500   1.5000      300       2100        –          –   0.25\n" +
		"    2    0.8125   1.2500      301       2107     2.25        0.5   1.06\n" +
		"    3    0.7812   1.3750      399       3793        –        0.5   2.00\n"
	if text != want {
		t.Errorf("got\n%swant\n%s", text, want)
	}
	if h.Score() != 0.78125 || h.BytesPerReport() != 8 {
		t.Errorf("accuracy %g, %g bytes, want the last one and the mean of all reports", h.Score(), h.BytesPerReport())
	}
	for dim, want := range map[int]string{1000: "8 bytes; 4000 for a dense float32 gradient (500x less)", 1: "8 bytes; 4 for a dense float32 gradient (2x more)"} {
		var b strings.Builder
		if err := h.PrintUpload(&b, dim); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s, %v, want %s", b.String(), err, want)
		}
	}
}

// The files hold every row as it was, and the summary as it is given.
func TestFilesHoldWhatWasMeasured(t *testing.T) {
	h, _ := three(t)
	dir := filepath.Join(t.TempDir(), "deep", "out")
	if err := h.Write(dir, "softmax", map[string]any{"accuracy": 0.78125, "epsilon": nil}); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	rows, err := csv.NewReader(bytes.NewReader(read("history.csv"))).ReadAll()
	want := [][]string{
		{"round", "accuracy", "loss", "reports", "bytes", "epsilon_local", "epsilon_central", "seconds"},
		{"1", "0.75", "1.5", "300", "2100", "", "", "0.250"},
		{"2", "0.8125", "1.25", "301", "2107", "2.25", "0.5", "1.062"},
		{"3", "0.78125", "1.375", "399", "3793", "", "0.5", "2.000"},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("history.csv is %v, %v, want %v", rows, err, want)
	}
	if got := string(read("summary.json")); got != "{\n  \"accuracy\": 0.78125,\n  \"epsilon\": null\n}\n" {
		t.Errorf("summary.json is %s", got)
	}
	if img, err := png.Decode(bytes.NewReader(read("accuracy.png"))); err != nil || img.Bounds().Dx() < 300 {
		t.Errorf("accuracy.png: %v", err)
	}
}

// broken takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fs.ErrClosed }

// A directory that cannot be written is found out beforehand, and one that is missing is still missing then.
func TestWritable(t *testing.T) {
	above := t.TempDir()
	dir := filepath.Join(above, "deep", "out")
	if err := errors.Join(history.Writable("--out", ""), history.Writable("--out", dir)); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(above); err != nil || len(files) != 0 {
		t.Errorf("%v, %v, want an empty directory", files, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var wrong *fl.ParamError
	if err := history.Writable("--out", file); !errors.As(err, &wrong) || wrong.Param != "--out" {
		t.Errorf("a file for a directory: %v, want an error about --out", err)
	}
	if err := os.Chmod(above, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := history.Writable("--out", dir); err == nil && os.Geteuid() != 0 { // root writes everywhere
		t.Error("a directory without the right to write: want an error")
	}
}

func TestWriteErrors(t *testing.T) {
	if _, err := history.New(broken{}, history.Accuracy, true); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a broken terminal: %v", err)
	}
	h, _ := three(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.Write(file, "softmax", 1); err == nil {
		t.Error("a file for a directory: want an error")
	}
	if err := h.Write(t.TempDir(), "softmax", func() {}); err == nil {
		t.Error("a summary that is no JSON: want an error")
	}
	full := t.TempDir()
	if err := os.Mkdir(filepath.Join(full, "history.csv"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.Write(full, "softmax", 1); err == nil {
		t.Error("history.csv is a directory: want an error")
	}
}

// Blocks grow with the score, from the lowest score to 1, and many rounds share the columns.
func TestSparkDrawsTheScores(t *testing.T) {
	h, err := history.New(io.Discard, history.Accuracy, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Spark(20); got != "" {
		t.Errorf("no round: %q", got)
	}
	for i, score := range []float64{0.3, -2, 0.5, 0.25, 0.75, 1, 1} {
		if err := h.Add(history.Round{Round: i + 1, Score: score}); err != nil {
			t.Fatal(err)
		}
	}
	for columns, want := range map[int]string{7: "▃▁▅▃▆██", 100: "▃▁▅▃▆██", 2: "▅█", 1: "█"} {
		if got := h.Spark(columns); got != want {
			t.Errorf("%d columns: %s, want %s", columns, got, want)
		}
	}
}
