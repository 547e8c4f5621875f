package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

const smallRound = ` {"id": "r", "mechanism": "coco", "dim": 3, "scale": 1, "epsilon": 1, "minReports": 100,
	"params": {"sparsity": {"integer": 2}}}`

// overspender is collision with three times the promised ε.
type overspender struct{}

const overspenderName = "test-overspender"

func init() { fl.Register(overspenderName, overspender{}) }

func (overspender) Open(r fl.Round) (fl.Mechanism, error) {
	promise := fl.Guarantee{Trust: fl.Local, Epsilon: r.Epsilon, Relation: fl.ReplaceOne}
	r.Mechanism, r.Epsilon = "collision", 3*r.Epsilon
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	return overspent{m, promise}, nil
}

type overspent struct {
	fl.Mechanism
	promise fl.Guarantee
}

func (o overspent) Guarantee() fl.Guarantee { return o.promise }

func TestVerifyReadsBothForms(t *testing.T) {
	r := fl.Round{
		Mechanism: "coco", Dim: 3, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 100,
		Params: fl.Params{"sparsity": fl.Int(2)}, PublicSeed: [32]byte{1},
	}
	file := filepath.Join(t.TempDir(), "round")
	for _, id := range []string{"r", strings.Repeat("r", 9), strings.Repeat("r", 10), strings.Repeat("r", 32)} { // lengths that are white space
		r.ID = id
		data, err := r.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readRound(file, nil); err != nil || !got.Equal(r) {
			t.Errorf("id %q: %+v, %v", id, got, err)
		}
	}
	for _, text := range []string{smallRound, strings.Replace(smallRound, "minReports", "min_reports", 1)} {
		got, err := readRound("-", strings.NewReader(text))
		if err != nil || got.MinReports != 100 || got.Params["sparsity"] != fl.Int(2) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for name, text := range map[string]string{
		"nothing known": `{"rounds": 1}`, "no JSON": "{", "no protobuf": "\x0a\xff", "too long": smallRound + strings.Repeat(" ", 1<<20),
	} {
		var p *fl.ParamError
		if got, err := readRound("-", strings.NewReader(text)); !errors.As(err, &p) || p.Param != "file" {
			t.Errorf("%s: %+v, %v, want a ParamError for file", name, got, err)
		}
	}
}

func TestVerifyExitCodes(t *testing.T) {
	overspent := strings.NewReplacer("coco", overspenderName, `{"integer": 2}`,
		`{"integer": 1}, "slots": {"integer": 4}, "hash": {"text": "gf2"}`).Replace(smallRound)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		round  string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"holds":     {smallRound, []string{"--seeds", "5"}, 0, "HOLDS: ε = 1 at most", ""},
		"no proof":  {smallRound, []string{"--method", "statistical", "--samples", "200", "--seed", "7"}, 0, "this is not a proof", ""},
		"violation": {overspent, []string{"--samples", "1000", "--seed", "7", "--confidence", "0.999"}, 1, "VIOLATION: ε >= ", "promise is broken"},
		"no time":   {smallRound, []string{"--time", "1ns"}, 1, "UNDECIDED: ", "the check ended before it could have found a violation, --time 1ns"},
		"no limit":  {smallRound, []string{"--time", "0", "--seeds", "5"}, 0, "HOLDS: ", ""},
		"--time":    {smallRound, []string{"--time", "-1s"}, 2, "", "time: got -1s"},
		"refused":   {strings.Replace(smallRound, `"dim": 3`, `"dim": 0`, 1), nil, 2, "", "dim: got 0"},
		"method":    {smallRound, []string{"--method", "guess"}, 2, "", "method: got"},
		"samples":   {smallRound, []string{"--samples", "-1"}, 2, "", "samples: got -1"},
		"flag":      {smallRound, []string{"--samples", "many"}, 2, "", "--samples: got"},
		"none":      {`{"id": "r", "mechanism": "none", "dim": 3, "scale": 1, "epsilon": "Infinity", "min_reports": 1}`, nil, 2, "", "must promise privacy"},
	} {
		file := filepath.Join(dir, "round.json")
		if err := os.WriteFile(file, []byte(c.round), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := call(t.Context(), append(append([]string{"verify"}, c.args...), file), &stdout, &stderr)
		if code != c.code || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%s: exit code %d, want %d; stdout %q, stderr %q", name, code, c.code, stdout.String(), stderr.String())
		}
	}
}

func TestVerifyPrintsJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := dispatch(t.Context(), []string{"verify", "-o", "json", "--seeds", "5", "-"}, command.Streams{In: strings.NewReader(smallRound), Out: &stdout, Err: &stderr}); err != nil {
		t.Fatal(err)
	}
	var report verify.Report
	d := json.NewDecoder(&stdout)
	d.DisallowUnknownFields()
	if err := d.Decode(&report); err != nil || !report.Holds || report.Method != verify.Exact || report.Seeds != 5 || report.Worst == nil {
		t.Errorf("%+v, %v", report, err)
	}
}
