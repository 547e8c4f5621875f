package privkv

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// tally counts the reports about one key and their votes.
type tally struct{ reports, none, plus, minus int32 }

func (k *tally) add(votes uint8) {
	k.reports++
	if votes&none != 0 {
		k.none++
	}
	if votes&plus != 0 {
		k.plus++
	}
	if votes&minus != 0 {
		k.minus++
	}
}

func (k *tally) merge(o tally) {
	k.reports += o.reports
	k.none += o.none
	k.plus += o.plus
	k.minus += o.minus
}

// aggregator implements fl.KeyValueAggregator.
type aggregator struct {
	mechanism *mechanism
	tallies   []tally
	reports   int64
}

var (
	_ fl.KeyValueAggregator = (*aggregator)(nil)
	_ fl.BatchAdder         = (*aggregator)(nil)
)

func (a *aggregator) fail(err error) error {
	return fmt.Errorf("%s: %w", a.mechanism.round.Mechanism, err)
}

// makeRoom refuses more reports than the counters hold.
func (a *aggregator) makeRoom(n int64) error {
	if a.reports+n > fl.MaxReports {
		return a.fail(fl.Invalid("reports", a.reports+n, "an aggregator counts at most %d", fl.MaxReports))
	}
	return nil
}

func (a *aggregator) count(key, message uint32) {
	a.tallies[key].add(a.mechanism.protocol.messages[message])
	a.reports++
}

func (a *aggregator) Add(report []byte) error {
	key, message, err := a.mechanism.codec.parse(report)
	if err != nil {
		return a.fail(err)
	}
	if err := a.makeRoom(1); err != nil {
		return err
	}
	a.count(key, message)
	return nil
}

// AddBatch implements fl.BatchAdder: it parses everything before it counts anything.
func (a *aggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		if _, _, err := a.mechanism.codec.parse(report); err != nil {
			return &fl.BatchError{Index: i, Err: a.fail(err)}
		}
	}
	if err := a.makeRoom(int64(len(reports))); err != nil {
		return err
	}
	for _, report := range reports {
		key, message, err := a.mechanism.codec.parse(report)
		if err != nil {
			return a.fail(err)
		}
		a.count(key, message)
	}
	return nil
}

func (a *aggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*aggregator)
	if !ok || o.mechanism.digest != a.mechanism.digest {
		return fmt.Errorf("%s: merge: the aggregators belong to different rounds", a.mechanism.round.Mechanism)
	}
	if err := a.makeRoom(o.reports); err != nil {
		return err
	}
	for j, k := range o.tallies {
		a.tallies[j].merge(k)
	}
	a.reports += o.reports
	return nil
}
