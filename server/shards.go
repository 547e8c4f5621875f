package server

import (
	"context"
	"errors"
	"runtime"

	"github.com/hushgrad/hushgrad/fl"
)

// shards are the aggregators of one round. A batch borrows one, so that
// batches are decoded on several cores without a lock around the decoding.
type shards struct {
	mechanism fl.Mechanism
	free      chan fl.Aggregator // nil stands for one not made yet
}

func newShards(m fl.Mechanism) *shards {
	s := &shards{mechanism: m, free: make(chan fl.Aggregator, runtime.GOMAXPROCS(0))}
	for range cap(s.free) {
		s.free <- nil
	}
	return s
}

// hold makes agg one of the shards, which are empty.
func (s *shards) hold(agg fl.Aggregator) {
	<-s.free
	s.free <- agg
}

// add counts units in one of the shards and returns those that it counted: all of them or none,
// unless there is a drop.
func (s *shards) add(ctx context.Context, units []unit, drop drop) ([]unit, error) {
	reports := units[0].reports
	for _, u := range units[1:] {
		reports = append(reports, u.reports...)
	}
	var agg fl.Aggregator
	select {
	case agg = <-s.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if agg == nil {
		agg = s.mechanism.NewAggregator()
	}
	defer func() { s.free <- agg }()
	err := fl.AddBatch(s.mechanism, agg, reports)
	var bad *fl.BatchError
	switch {
	case err == nil:
		return units, nil
	case drop != nil && errors.As(err, &bad): // nothing is counted yet
		return addEach(agg, units, drop), nil
	}
	return nil, err
}

// addEach counts the units of one report that are reports of the round, each in the time that one
// takes however many others are none.
func addEach(agg fl.Aggregator, units []unit, drop drop) (counted []unit) {
	for _, u := range units {
		if err := agg.Add(u.reports[0]); err != nil {
			drop(u, err)
		} else {
			counted = append(counted, u)
		}
	}
	return counted
}

// sum returns the sum of all shards, which stay as they are. No add may be running.
func (s *shards) sum() (fl.Aggregator, error) {
	return s.merged(func(agg fl.Aggregator) { s.free <- agg })
}

// take is sum for the last time: no shard stays.
func (s *shards) take() (fl.Aggregator, error) {
	return s.merged(func(fl.Aggregator) { s.free <- nil })
}

// merged returns the sum of all shards, each of which it gives to leave.
func (s *shards) merged(leave func(fl.Aggregator)) (fl.Aggregator, error) {
	sum := s.mechanism.NewAggregator()
	for range cap(s.free) {
		agg := <-s.free
		leave(agg)
		if agg == nil {
			continue
		}
		if err := sum.Merge(agg); err != nil {
			return nil, err
		}
	}
	return sum, nil
}
