package cluster_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
)

// Three shards of two members count every report once, however often it is forwarded, and the
// estimate is one aggregator's. A member that leaves in the midst of it is replaced, on a
// disk that has nothing.
func TestShardsCountEveryReportOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	const n = 6000
	p := startParty(t, 3)
	first := p.join(0, journal.NewMemory())
	operator, shuffler := p.dial()
	opened, err := operator.OpenRound(t.Context(), cocoRound("r", n))
	if err != nil {
		t.Fatal(err)
	}
	c := gather(t, opened, n)
	for i, part := range slices.Collect(slices.Chunk(c.sealed, 1000)) {
		for range 1 + i%2 { // every other one twice
			if err := c.forward(t.Context(), shuffler, part); err != nil {
				t.Fatal(err)
			}
		}
		if i == 2 {
			p.join(1, journal.NewMemory())
			first()
		}
	}
	if err := c.forward(t.Context(), shuffler, slices.Concat(c.sealed[:10], c.sealed[5990:])); err != nil {
		t.Fatal(err)
	}
	if err := c.complete(t.Context(), shuffler); err != nil {
		t.Fatal(err)
	}
	got, err := operator.Estimate(t.Context(), "r", true)
	if err != nil {
		t.Fatal(err)
	}
	if want := c.estimate(t); !reflect.DeepEqual(got, want) {
		t.Errorf("the estimate of %d reports is %v, want of %d, %v", got.Reports, got.Mean(), want.Reports, want.Mean())
	}
	eventually(t, "end of the round in the shards", func() bool {
		shards, err := p.cluster.Status(t.Context())
		left := int64(0)
		for _, s := range shards {
			left += s.Reports + s.Waiting
		}
		return err == nil && left == 0
	})
}
