package demands

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// asked answers a question about demands.
func asked(t *testing.T, args ...string) (*experiment.Result, error) {
	t.Helper()
	f := flag.NewFlagSet("hetero", flag.ContinueOnError)
	run := own().Bind(f)
	if err := command.Parse(f, args); err != nil {
		t.Fatal(err)
	}
	return run(t.Context(), experiment.Env{Jobs: 1, Seed: 1})
}

// Ten clients, half of them with ε = 1 and half with 3: weights in proportion to ε are 0.05 and 0.15, with the same noise of
// scale 0.05; equal weights are 0.1, with the noise of the most careful, of scale 0.1.
func TestDemandsOfOnesOwn(t *testing.T) {
	r, err := asked(t, "--epsilons", "1,3", "--shares", "0.5,0.5", "--clients", "10")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 5 {
		t.Fatalf("%d rows, %v", len(r.Rows), err)
	}
	for _, row := range r.Rows {
		want, known := map[string][3]float64{"proportional": {0.05 * math.Sqrt2, 0.05, 0.15}, "uniform": {0.1 * math.Sqrt2, 0.1, 0.1}}[row[0].(string)]
		if !known {
			continue
		}
		for i, w := range want { // weights are rounded to a grid
			if got := row[4+i].(float64); math.Abs(got/w-1) > 1e-3 {
				t.Errorf("%v: column %s, want %g", row, r.Columns[4+i], w)
			}
		}
		if row[2] != nil {
			t.Errorf("%v: an estimate without values", row)
		}
	}
}

// Values of clients without limits are published as they are.
func TestValuesOfOnesOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("epsilon,value\ninf,0\ninf,2\ninf,2\ninf,1\n")
	r, err := asked(t, "--categories", "3", "--values", file)
	if err != nil || len(r.Rows) != 15 {
		t.Fatalf("%v, %v", r, err)
	}
	for _, row := range r.Rows {
		want := []float64{0.25, 0.25, 0.5}[row[1].(int)]
		if math.Abs(row[2].(float64)-want) > 1e-6 || row[3] != want {
			t.Errorf("%v, want %g", row, want)
		}
	}
	write("epsilon,value\ninf,0\ninf,0.5\n")
	if r, err = asked(t, "--values", file); err != nil || math.Abs(r.Rows[0][2].(float64)-0.25) > 1e-6 || r.Rows[0][3] != 0.25 || r.Rows[0][1] != nil {
		t.Errorf("a mean: %v, %v", r.Rows, err)
	}
	for text, want := range map[string]string{
		"":                     "epsilon,value",
		"value,epsilon\n1,1\n": "epsilon,value",
		"epsilon,value\n":      "a line for each client",
		"epsilon,value\n1,2\n": "line 2",
		"epsilon,value\nx,1\n": "line 2",
		"epsilon,value\n0,1\n": "eps[0]",
	} {
		write(text)
		if _, err := asked(t, "--values", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for param, args := range map[string][]string{
		"--epsilons":   {"--epsilons", "0,1,2"},
		"--shares":     {"--shares", "0.5,0.4,0.2"},
		"--clients":    {"--clients", "0"},
		"--categories": {"--categories", "0"},
		"--beta":       {"--beta", "0.5"},
	} {
		var wrong *fl.ParamError
		if _, err := asked(t, args...); !errors.As(err, &wrong) || wrong.Param != param {
			t.Errorf("%v: %v", args, err)
		}
	}
}
