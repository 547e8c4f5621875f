package experiment_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "results")
	r := small()
	r.Plot = &figure.Figure{Panels: make([]figure.Panel, 1)}
	// Twice: results of an earlier run are replaced.
	for range 2 {
		if err := experiment.Write(t.Context(), dir, "table-3", experiment.Origin{Command: "go run ./bench table-3 --seed 1"}, r); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := names(t, dir), []string{"table-3.csv", "table-3.json", "table-3.pdf", "table-3.png", "table-3.svg"}; !slices.Equal(got, want) {
		t.Fatalf("files %q, want %q", got, want)
	}
	if _, err := png.Decode(bytes.NewReader(read(t, dir, "table-3.png"))); err != nil {
		t.Errorf("PNG: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "table-3.csv")); err != nil || info.Mode() != fs.FileMode(0o644) {
		t.Errorf("mode %v, error %v, want one that lets others read", info.Mode(), err)
	}

	rows, err := csv.NewReader(bytes.NewReader(read(t, dir, "table-3.csv"))).ReadAll()
	want := [][]string{
		{"mechanism", "ε", "MSE", "clients", "unbiased"},
		{"CoCo", "5", "0.3333333333333333", "2000", "true"},
		{"<a, \"b\"\tc>", "NaN", "123456.789", "9223372036854775807", "false"},
		{"", "+Inf", "-Inf", "-1", ""},
	}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("CSV: %v, %q", err, rows)
	}
}

func TestWriteJSON(t *testing.T) {
	dir := t.TempDir()
	from := experiment.Origin{
		Command: "go run ./bench fig1", Commit: "abc+changes", Go: "go1.26", Machine: "a machine, 2 cores, linux",
		Date: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC),
	}
	r := small()
	r.Seconds = 61.4
	if err := experiment.Write(t.Context(), dir, "fig1", from, r); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "name": "fig1",
  "command": "go run ./bench fig1",
  "commit": "abc+changes",
  "go": "go1.26",
  "machine": "a machine, 2 cores, linux",
  "date": "2026-11-22T01:02:03Z",
  "quick": false,
  "seconds": 62,
  "rows": [
    {"mechanism":"CoCo","ε":5,"MSE":0.3333333333333333,"clients":2000,"unbiased":true},
    {"mechanism":"<a, \"b\"\tc>","ε":null,"MSE":123456.789,"clients":9223372036854775807,"unbiased":false},
    {"mechanism":null,"ε":"+Inf","MSE":"-Inf","clients":-1,"unbiased":null}
  ],
  "verdicts": [
    {"claim":"MSE < 1 & more","holds":true,"detail":"0.3333"},
    {"claim":"it is unbiased","section":"3","quote":"is unbiased","criterion":"0 %","holds":false,"ours":"0.2 %","detail":""},
    {"claim":"its clip is the best","holds":null,"found":"cannot be settled","missing":"the data are not there","detail":"two clips"}
  ],
  "notes": [
    "one seed"
  ]
}
`
	if got := string(read(t, dir, "fig1.json")); got != want {
		t.Errorf("JSON\n%s\nwant\n%s", got, want)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("files %q, want no picture without a figure", got)
	}
	if err := experiment.Write(t.Context(), dir, "fig1", experiment.Origin{}, &experiment.Result{Columns: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	var empty map[string]any
	if err := json.Unmarshal(read(t, dir, "fig1.json"), &empty); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"rows", "verdicts", "notes"} {
		if l, ok := empty[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s: %v, want an empty list", list, empty[list])
		}
	}
}

// A quick run never says that a claim holds, or that it does not.
func TestQuickRunsDecideNothing(t *testing.T) {
	dir, r := t.TempDir(), small()
	r.Quick = true
	if err := experiment.Write(t.Context(), dir, "fig1", experiment.Origin{}, r); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Quick    bool
		Verdicts []struct{ Holds, Suggests *bool }
	}
	if err := json.Unmarshal(read(t, dir, "fig1.json"), &got); err != nil {
		t.Fatal(err)
	}
	if v := got.Verdicts; !got.Quick || len(v) != 3 || v[2].Holds != nil || v[2].Suggests != nil || v[0].Holds != nil || v[1].Holds != nil || !*v[0].Suggests || *v[1].Suggests {
		t.Errorf("JSON %s", read(t, dir, "fig1.json"))
	}
	var out bytes.Buffer
	if err := experiment.Print(&out, r); err != nil || strings.Contains(out.String(), "hold") || strings.Count(out.String(), "quick run") != 2 || !strings.Contains(out.String(), "quick run: yes: MSE") {
		t.Errorf("%v, printed\n%s", err, out.String())
	}
}

func TestOriginOfAResult(t *testing.T) {
	o := experiment.Here(t.Context(), "go run ./bench fig1")
	if o.Command != "go run ./bench fig1" || o.Commit == "" || o.Go == "" || o.Machine == "" || time.Since(o.Date) > time.Minute {
		t.Errorf("%+v", o)
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	var wrong *fl.ParamError
	for _, name := range []string{"", "../up", "Table", "a b", "a-", ".hidden"} {
		if err := experiment.Write(t.Context(), dir, name, experiment.Origin{}, small()); !errors.As(err, &wrong) || wrong.Param != "name" {
			t.Errorf("%q: %v, want a ParamError for name", name, err)
		}
	}
	if err := experiment.Write(t.Context(), dir, "t", experiment.Origin{}, &experiment.Result{}); !errors.As(err, &wrong) || wrong.Param != "Columns" {
		t.Errorf("invalid result: %v", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("files %q after refusals", got)
	}
	// A directory in the place of a file cannot be replaced.
	if err := os.MkdirAll(filepath.Join(dir, "t.json", "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := experiment.Write(t.Context(), dir, "t", experiment.Origin{}, small()); err == nil {
		t.Error("no error for a directory in a file's place")
	}
	if got, want := names(t, dir), []string{"t.csv", "t.json"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q: the temporary file is removed", got, want)
	}
	if err := experiment.Write(t.Context(), filepath.Join(dir, "t.csv"), "t", experiment.Origin{}, small()); err == nil {
		t.Error("no error for a file in the directory's place")
	}
}
