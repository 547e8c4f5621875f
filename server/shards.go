package server

import (
	"context"
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

// add counts a batch in one of the shards, or nothing of it.
func (s *shards) add(ctx context.Context, reports [][]byte) error {
	var agg fl.Aggregator
	select {
	case agg = <-s.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	if agg == nil {
		agg = s.mechanism.NewAggregator()
	}
	defer func() { s.free <- agg }()
	return fl.AddBatch(s.mechanism, agg, reports)
}

// sum returns the sum of all shards, which stay as they are. No add may be running.
func (s *shards) sum() (fl.Aggregator, error) {
	sum := s.mechanism.NewAggregator()
	for range cap(s.free) {
		agg := <-s.free
		s.free <- agg
		if agg == nil {
			continue
		}
		if err := sum.Merge(agg); err != nil {
			return nil, err
		}
	}
	return sum, nil
}
