package training

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// A run is lost where no means stood out of their noise and little was gained, and not where the first or the last means did, without privacy, or
// because of what an earlier round was like.
func TestARunThatSettlesIsNotLost(t *testing.T) {
	for _, c := range []struct {
		progress trainer.Progress
		epsilon  float64
		score    float64
		lost     bool
	}{
		{trainer.Progress{Lost: true}, 1, 0.6, true},
		{trainer.Progress{Lost: true, Found: true}, 1, 0.6, false},
		{trainer.Progress{Lost: true}, 1, 0.63, false}, // of 0.5 that lacked, 0.13 is gained
		{trainer.Progress{Found: true}, 1, 0.6, false},
		{trainer.Progress{}, 1, 0.6, false},
		{trainer.Progress{Lost: true}, math.Inf(1), 0.6, false},
	} {
		for _, before := range []trainer.Progress{{Lost: true}, {Lost: true, Found: true}, {}} {
			o := &Outcome{Run: &plan.Run{Template: fl.Round{Epsilon: c.epsilon}, Unit: plan.Client}, Before: 0.5, Score: c.score}
			o.judge(before)
			o.judge(c.progress)
			if o.Lost != c.lost {
				t.Errorf("%+v after %+v: lost is %v", c.progress, before, o.Lost)
			}
		}
	}
}
