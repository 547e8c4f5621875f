package keyvalues

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// A sweep gives valid rows and a picture, the same whatever the number of jobs, and goes
// on from a checkpoint.
func TestSweepsRunRepeatAndResume(t *testing.T) {
	compared := map[string]bool{}
	for name, points := range map[string]int{"fig6-pckv": 2 * 3 * 4, "fig7-pckv": 2 * 2 * 2 * 4} {
		var results []*experiment.Result
		path := filepath.Join(t.TempDir(), "checkpoint")
		for _, jobs := range []int{1, 2, 2} {
			env := experiment.Env{Seed: 5, Quick: true, Jobs: jobs}
			if len(results) > 0 {
				var err error
				if env.Checkpoint, err = experiment.OpenCheckpoint(path, "bench"); err != nil {
					t.Fatal(err)
				}
			}
			r, err := start(t, t.Context(), name, env)
			if err := errors.Join(err, env.Checkpoint.Close(false)); err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		first := results[0]
		if err := first.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, r := range results[1:] {
			if !reflect.DeepEqual(first.Rows, r.Rows) {
				t.Errorf("%s: the rows differ between runs", name)
			}
		}
		if len(first.Rows) != 4*points || len(first.Verdicts) != 8 {
			t.Errorf("%s: %d rows and %d verdicts, want %d and 8", name, len(first.Rows), len(first.Verdicts), 4*points)
		}
		for _, row := range first.Rows {
			if mse := row[6].(float64); !(mse > 0) || row[4] == "mean" && mse > 4 {
				t.Errorf("%s: %v", name, row)
			}
			if pckv := strings.HasPrefix(row[3].(string), "PCKV"); pckv != (row[8] != nil) {
				t.Errorf("%s: theory in %v", name, row)
			}
			if !(row[7].(float64) > 0) {
				t.Errorf("%s: all repeats are the same: %v", name, row)
			}
			// Averages of the squares of 100 Gaussians or more in 3 repeats. By Chernoff's
			// bound they are off by 60 % with probability 3e-9. For means it is 1e-6, and rare
			// keys have the larger part of that: less than 1e-5 for all rows.
			if want, ok := row[8].(float64); ok && row[5] == "all keys" && (row[4] == "frequency" || want < smallError) {
				compared[row[4].(string)] = true
				if ratio := row[6].(float64) / want; math.Abs(ratio-1) > 0.6 {
					t.Errorf("%s: %g times the theory: %v", name, ratio, row)
				}
			}
		}
		var png bytes.Buffer
		if err := first.Plot.WritePNG(&png); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(compared) != len(quantities) {
		t.Errorf("only compared with the theory: %v", compared)
	}
}

// made returns the points of one setting with the given errors and, for PCKV, a theory
// of 1e-3 ± 1 %.
func made(epsilon float64, errors ...float64) []*point {
	var points []*point
	for rival, mse := range errors {
		at := &point{dim: 100, epsilon: epsilon, rival: rival}
		for quantity := range quantities {
			for i := range scopes {
				at.scores[quantity][i].mse = experiment.Interval{Value: mse}
				if isPCKV(rivals[rival].name) {
					at.scores[quantity][i].theory = theory{mse: 1e-3, spread: 0.01}
				}
			}
		}
		points = append(points, at)
	}
	return points
}

func TestSweepVerdicts(t *testing.T) {
	good, bad := made(1, 9e-3, 8e-3, 1e-3, 1.04e-3), made(2, 9e-3, 8e-4, 1e-3, 1.2e-3)
	v := smallest(good, frequency, 0, "error")
	if !v.Holds || !strings.Contains(v.Detail, "in 1 of 1 settings") || !strings.Contains(v.Detail, "8 times") {
		t.Errorf("%+v", v)
	}
	v = smallest(append(good, bad...), mean, 1, "error")
	if v.Holds || !strings.Contains(v.Detail, "in 1 of 2 settings") || !strings.Contains(v.Detail, "not at uniform keys, d = 100, ε = 2") {
		t.Errorf("%+v", v)
	}
	if v = agreement(good, frequency, 0, "error"); !v.Holds || !strings.Contains(v.Detail, "2 of 2 settings, measured over theory from 1 to 1.04") {
		t.Errorf("%+v", v)
	}
	if v = agreement(bad, frequency, 0, "error"); v.Holds || !strings.Contains(v.Detail, "1 of 2") {
		t.Errorf("%+v", v)
	}
	if v = agreement(bad, mean, 0, "error"); !v.Holds {
		t.Errorf("20 %% off a mean's theory: %+v", v)
	}
	for _, at := range bad {
		at.scores[mean][0].theory.mse *= 100 // above what is compared
	}
	if v = agreement(bad, mean, 0, "error"); v.Holds || v.Detail != "0 of 0 settings" {
		t.Errorf("nothing to compare: %+v", v)
	}
}
