package jetstream

import (
	"slices"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/seal"
)

// Messages take the lanes in turn, without those that did not acknowledge. When none did, each
// gets its turn all the same.
func TestLanesThatDoNotAnswerRest(t *testing.T) {
	p := &publisher{resting: make([]time.Time, 3)}
	take := func(n int) (lanes []int) {
		for range n {
			lanes = append(lanes, p.lane())
		}
		return lanes
	}
	if got := take(4); !slices.Equal(got, []int{1, 2, 0, 1}) {
		t.Errorf("lanes %v", got)
	}
	p.rest(2)
	if got := take(3); !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("lanes %v while 2 rests", got)
	}
	seen := map[int]bool{}
	for range 3 {
		lane := p.lane()
		seen[lane] = true
		p.rest(lane)
	}
	for range 3 {
		lane := p.lane()
		seen[lane] = true
		p.rest(lane)
	}
	if len(seen) != 3 {
		t.Errorf("lanes %v were tried while all rest", seen)
	}
	p.resting[1] = time.Now().Add(-time.Second)
	if got := take(2); !slices.Equal(got, []int{1, 1}) {
		t.Errorf("lanes %v when 1 has rested", got)
	}
}

// A report goes to one shard, whatever message it comes in, and all shards get some.
func TestAReportHasOneShard(t *testing.T) {
	const reports, shards = 3000, 3
	counts := make([]int, shards)
	for i := range reports {
		id := seal.ID([]byte{byte(i), byte(i >> 8)})
		shard := shardOf(id, shards)
		if shard != shardOf(id, shards) {
			t.Fatal("two shards for one report")
		}
		counts[shard]++
	}
	for shard, n := range counts { // 1000 ± 26: six standard deviations, and the ids are fixed
		if n < 840 || n > 1160 {
			t.Errorf("shard %d has %d of %d reports", shard, n, reports)
		}
	}
	if shardOf([32]byte{}, 256) != 0 || shardOf([32]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 256) != 255 {
		t.Error("the ends are not the first and the last shard")
	}
}
