package experiment_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func TestRepeatsOr(t *testing.T) {
	if got := (experiment.Env{}).RepeatsOr(7); got != 7 {
		t.Errorf("%d repeats, want the experiment's own 7", got)
	}
	if got := (experiment.Env{Repeats: 3}).RepeatsOr(7); got != 3 {
		t.Errorf("%d repeats, want the 3 asked for", got)
	}
}
