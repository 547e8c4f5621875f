package pages

import (
	"fmt"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// firstSteps lists how long the first commands of README.md take.
func firstSteps(in []*experiment.Record) (string, error) {
	g := newGrid("command", "first time", "then")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "first_s", "again_s")
		if err != nil {
			return "", err
		}
		until := ""
		if row["until"] == "page" {
			until = " to the page"
		}
		g.add(fmt.Sprintf("`%v`", row["command"]), wait(v[0])+until, wait(v[1])+until)
	}
	return g.String(), nil
}

// wait writes seconds as somebody who waits counts them, rounded up.
func wait(seconds float64) string {
	d := time.Duration(seconds*float64(time.Second)) + time.Second - 1
	if d = d.Truncate(time.Second); d < 2*time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
