package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
)

func TestRangesCoverEveryElementOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, processors := range []int{1, 2, 3, 7} {
		runtime.GOMAXPROCS(processors)
		for _, n := range []int{0, 1, share - 1, share, 2*share - 1, 2 * share, 5*share + 3} {
			visits, calls := make([]int32, n), atomic.Int32{}
			Ranges(n, func(from, to int) {
				calls.Add(1)
				for i := from; i < to; i++ {
					atomic.AddInt32(&visits[i], 1)
				}
			})
			for i, v := range visits {
				if v != 1 {
					t.Fatalf("%d processors, %d elements: %d visits of element %d", processors, n, v, i)
				}
			}
			if want := max(1, min(processors, n/share)); int(calls.Load()) != want {
				t.Errorf("%d processors, %d elements: %d ranges, want %d", processors, n, calls.Load(), want)
			}
		}
	}
}
