package privkv

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Counts is what the reports about one key say: how many there are, and how many of them
// vote for none, plus and minus. A report of PrivKV and PrivKVM has one vote, one
// of KVUE has any of the three.
type Counts struct{ Reports, None, Plus, Minus int32 }

// AddCounts adds counts that were taken elsewhere, one Counts per key, to an aggregator
// of this package, as if their reports had been added to it: of a server that keeps its
// own counters, or of a simulation that draws the counts from their law. It returns a
// *fl.ParamError (wrapped), and changes nothing, when agg is of another package, when
// there are not dim Counts, and when so many reports cannot have the votes. O(dim).
func AddCounts(agg fl.Aggregator, counts []Counts) error {
	a, ok := agg.(*aggregator)
	if !ok {
		return fmt.Errorf("privkv: add counts: %w", fl.Invalid("agg", fmt.Sprintf("%T", agg), "must be an aggregator of this package"))
	}
	if len(counts) != len(a.tallies) {
		return a.fail(fl.Invalid("counts", len(counts), "must be dim = %d entries", len(a.tallies)))
	}
	added := int64(0)
	for j, c := range counts {
		if min(c.Reports, c.None, c.Plus, c.Minus) < 0 || !a.mechanism.protocol.possible(c.tally()) {
			return a.fail(fl.Invalid(fmt.Sprintf("counts[%d]", j), fmt.Sprintf("%+v", c), "must be the votes of so many reports"))
		}
		added += int64(c.Reports)
	}
	if err := a.makeRoom(added); err != nil {
		return err
	}
	for j, c := range counts {
		a.tallies[j].merge(c.tally())
	}
	a.reports += added
	return nil
}

func (c Counts) tally() tally {
	return tally{reports: c.Reports, none: c.None, plus: c.Plus, minus: c.Minus}
}
