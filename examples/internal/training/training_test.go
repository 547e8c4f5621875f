package training

import (
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// A run is lost where no means stood out of their noise, and settled where the first ones did. Neither is said of a run whose last means stand out, of one
// without privacy, or of what an earlier round was like.
func TestARunThatSettlesIsNotLost(t *testing.T) {
	for _, c := range []struct {
		progress trainer.Progress
		epsilon  float64
		score    float64
		warned   string
	}{
		{trainer.Progress{Lost: true}, 1, 0.6, "warning"},
		{trainer.Progress{Lost: true, Found: true}, 1, 0.6, "note"},
		{trainer.Progress{Lost: true}, 1, 0.63, ""}, // of 0.5 that lacked, 0.13 is gained
		{trainer.Progress{Lost: true, Found: true}, 1, 0.63, "note"},
		{trainer.Progress{Found: true}, 1, 0.6, ""},
		{trainer.Progress{}, 1, 0.6, ""},
		{trainer.Progress{Lost: true}, math.Inf(1), 0.6, ""},
		{trainer.Progress{Lost: true, Found: true}, math.Inf(1), 0.6, ""},
	} {
		for _, before := range []trainer.Progress{{Lost: true}, {Lost: true, Found: true}, {}} {
			o := &Outcome{Run: &plan.Run{Template: fl.Round{Epsilon: c.epsilon}, Unit: plan.Client}, Before: 0.5, Score: c.score}
			o.judge(before)
			o.judge(c.progress)
			var b strings.Builder
			if err := o.printJudgement(&b); err != nil {
				t.Fatal(err)
			}
			if said, _, _ := strings.Cut(b.String(), " "); said != c.warned || o.Lost != (c.warned == "warning") {
				t.Errorf("%+v after %+v: lost is %v, and it prints %q, want %q", c.progress, before, o.Lost, b.String(), c.warned)
			}
		}
	}
}
