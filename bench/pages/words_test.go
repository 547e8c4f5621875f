package pages

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// docs/results/training.md says in words: from a central ε of 0.25 on the planner's runs are within two
// points of no privacy, and from 0.6 on within one.
func TestThePriceOfPrivacyIsAsThePageSays(t *testing.T) {
	r, err := experiment.ReadRecord(filepath.Join(root, results, "accuracy-central", "accuracy.json"))
	if err != nil {
		t.Fatal(err)
	}
	without, planned := 0.0, map[float64]float64{}
	for _, row := range r.Rows {
		accuracy, err := number(row, "accuracy")
		if err != nil {
			t.Fatal(err)
		}
		switch central, private := row["epsilon_central"].(float64); {
		case row["mechanism"] == "none":
			without = accuracy
		case row["mechanism"] == "auto" && private:
			planned[central] = accuracy
		}
	}
	n := 0
	for central, accuracy := range planned {
		points := 2.0
		if at, ok := asked(central, []float64{0.25, 0.6, 1, 2, 4}); !ok {
			continue
		} else if at > 0 {
			points = 1
		}
		if n++; !(100*(without-accuracy) <= points) {
			t.Errorf("at a central ε of %.3g the accuracy is %.4f, without privacy %.4f: more than %g points", central, accuracy, without, points)
		}
	}
	if n != 5 {
		t.Errorf("%d runs, want five", n)
	}
}

// Every ε in the words of a verdict is at least the run's ε.
func TestVerdictsStateNoLessThanTheRuns(t *testing.T) {
	said := regexp.MustCompile(`with (\S+) at central ε = (\S+); of one report ε = (\S+) against everybody, of all \d+ reports of a client (\S+)$`)
	paths, err := filepath.Glob(filepath.Join(root, results, "*", "accuracy.json"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range paths {
		r, err := experiment.ReadRecord(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Verdicts {
			match := said.FindStringSubmatch(v.Detail)
			if match == nil {
				continue
			}
			n++
			if !slices.ContainsFunc(r.Rows, func(row map[string]any) bool {
				return row["mechanism"] == match[1] && atLeast(match[2], row["epsilon_central"]) && atLeast(match[3], row["epsilon_local"]) && atLeast(match[4], row["epsilon_local_all"])
			}) {
				t.Errorf("%s: no run has at most what %q says", path, v.Detail)
			}
		}
	}
	if n < 6 {
		t.Errorf("%d verdicts, want at least six", n)
	}
}

// atLeast reports whether a printed ε is the ε of a row, rounded up.
func atLeast(printed string, of any) bool {
	epsilon, ok := of.(float64)
	said, err := strconv.ParseFloat(printed, 64)
	return ok && err == nil && said >= epsilon*(1-1e-12) && said < 1.001*epsilon
}
