package serving

import (
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// shardsReport is the result of the experiment.
func shardsReport(found map[int][]shardRate, repeats int, busy float64) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"shards", "processors_of_members", "reports_per_second", "low", "high", "member_us_per_report", "broker_reading_us_per_report", "broker_publishing_us_per_report", "broker_share"},
		Notes: []string{
			"Members have one processor each (GOMAXPROCS) and count what a broker has on disk already, one opening of a sealed report after the other.",
			"The broker and what watches it run on the same machine and share its processors. The broker is one node without copies.",
			"broker_share is the broker's part of the processor time that a report costs the broker and its member, publishing included.",
			fmt.Sprintf("Medians of %d repeats, with the smallest and the largest one. Load of the machine before: %.2f.", repeats, busy),
		},
	}
	middle := func(shards int, value func(shardRate) float64) spread {
		var values []float64
		for _, f := range found[shards] {
			values = append(values, value(f))
		}
		slices.Sort(values)
		n := len(values)
		return spread{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]}
	}
	rate := func(f shardRate) float64 { return f.rate }
	for shards := 1; shards <= 2; shards++ {
		got := middle(shards, rate)
		r.Rows = append(r.Rows, experiment.Row{
			shards, shards, got.median, got.low, got.high,
			1e6 * middle(shards, func(f shardRate) float64 { return f.member }).median,
			1e6 * middle(shards, func(f shardRate) float64 { return f.reading }).median,
			1e6 * middle(shards, func(f shardRate) float64 { return f.publishing }).median,
			middle(shards, func(f shardRate) float64 { return (f.reading + f.publishing) / (f.member + f.reading + f.publishing) }).median,
		})
	}
	one, two := middle(1, rate).median, middle(2, rate).median
	r.Verdicts = []experiment.Verdict{{
		Claim:  fmt.Sprintf("two shards on two processors count at least %g times what one shard counts on one", leastGain),
		Holds:  two >= leastGain*one,
		Detail: fmt.Sprintf("%s against %s reports/s: %.2f times", plain(two), plain(one), two/one),
	}}
	return r
}
