package pages

import (
	"path/filepath"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// docs/results.md says in words: from a central ε of 0.25 on the planner's runs are within two
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
