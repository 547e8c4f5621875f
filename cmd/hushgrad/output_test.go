package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

// With -o json standard output is one JSON value with the keys that programs know.
func TestJSONOutput(t *testing.T) {
	_, operator := parts(t, run(t))
	dir := t.TempDir()
	round, reports := reportsOf(t, dir)
	server := []string{"--server", operator}
	for line, keys := range map[string][]string{
		"version":                              {"version", "commit", "date", "go"},
		"round --dim 4 --param sparsity=2":     {"id", "mechanism", "params"},
		"verify --seeds 5 " + round:            {"holds"},
		"account amplify --dim 9 --sparsity 2": {"epsilon_central", "bound"},
		"account compose --epsilon 1":          {"epsilon", "epsilon_basic"},
		"encode --round " + round + " --out " + reports + " " + filepath.Join(dir, "clients.csv"): {"reports", "round", "guarantee", "file"},
		"aggregate --round " + round + " " + reports:                                              {"reports", "guarantee", "estimates"},
		"aggregate --round " + round + " --out " + filepath.Join(dir, "out") + " " + reports:      {"reports", "guarantee", "files"},
		"certify --clients ann " + filepath.Join(dir, "tls"):                                      {"directory", "new_authority", "authority_until", "until", "names", "new_clients"},
		"issue bearer ann": {"name", "secret", "line"},
		"rounds abort " + strings.Join(server, " ") + " probe": {"aborted"},
	} {
		var got map[string]any
		text := do(t, append(strings.Fields(line), "-o", "json")...)
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v in %q", line, err, text)
		}
		for _, key := range keys {
			if _, ok := got[key]; !ok {
				t.Errorf("%s: no %q in %q", line, key, text)
			}
		}
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(do(t, append([]string{"rounds", "list", "--output=json"}, server...)...)), &list); err != nil || len(list) != 1 {
		t.Errorf("rounds list: %v, %v", list, err)
	}
}

// Every command that prints a result has -o, and only these do not.
func TestResultsHaveAForm(t *testing.T) {
	without := map[string]bool{
		"hushgrad": true, "hushgrad serve": true, "hushgrad shuffle": true, "hushgrad issue": true, "hushgrad relay": true, // services log
		"hushgrad rounds": true, "hushgrad new": true, "hushgrad demo": true, "hushgrad account": true, "hushgrad ledger": true,
		"hushgrad ledger export": true,                                                             // a form of its own
		"hushgrad log":           true, "hushgrad log witness": true, "hushgrad log monitor": true, // they follow a log
		"hushgrad verify conformance answer": true, "hushgrad verify conformance vectors": true,
		"hushgrad man": true, "hushgrad configuration": true, "hushgrad exit-codes": true,
	}
	every(newRoot(), func(c *cobra.Command) {
		if has := c.Flags().Lookup(outputFlag) != nil; has == without[c.CommandPath()] {
			t.Errorf("%s: -o is there: %t", c.CommandPath(), has)
		}
	})
}

// A change of a round is one line for programs, too.
func TestWatchPrintsJSONLines(t *testing.T) {
	var out bytes.Buffer
	v := view{out: &out, output: jsonOutput, shown: map[string]string{}}
	status := client.RoundStatus{Round: fl.Round{ID: "r"}, State: client.RoundOpen, Opened: time.Unix(0, 0)}
	for n := range 3 {
		status.Reports = n / 2
		if err := v.show([]client.RoundStatus{status}); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	var last struct {
		Reports string `json:"reports"`
		Round   struct {
			ID string `json:"id"`
		} `json:"round"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 2 || last.Reports != "1" || last.Round.ID != "r" {
		t.Errorf("%q: %+v, %v", lines, last, err)
	}
}

func TestOutputForms(t *testing.T) {
	var form output
	f := flag.NewFlagSet("name", flag.ContinueOnError)
	form.bind(f)
	if form != textOutput || f.Set(outputFlag, "yaml") == nil || form != textOutput || f.Set(outputFlag, "json") != nil || form != jsonOutput {
		t.Errorf("%q", form)
	}
}

// Reports do not go to a terminal, unless --out says so.
func TestNoReportsOnATerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !command.IsTerminal(terminal) {
		t.Skip("no terminal here")
	}
	defer terminal.Close()
	dir := t.TempDir()
	round, _ := reportsOf(t, dir)
	encode := func(flags ...string) error {
		args := append(append([]string{"encode", "--round", round}, flags...), filepath.Join(dir, "clients.csv"))
		return dispatch(t.Context(), args, command.Streams{Out: terminal, Err: io.Discard})
	}
	var p *fl.ParamError
	if err := encode(); !errors.As(err, &p) || p.Param != "--out" {
		t.Errorf("on a terminal: %v", err)
	}
	for _, out := range []string{"-", filepath.Join(dir, "file")} {
		if err := encode("--out", out); err != nil {
			t.Errorf("--out %s: %v", out, err)
		}
	}
}
