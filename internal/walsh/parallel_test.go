package walsh

import (
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

var long = flag.Bool("long", false, "transform vectors of 256 MiB")

func TestParallelHasTheBitsOfSerial(t *testing.T) {
	t.Run("int64", testParallel[int64])
	t.Run("float32", testParallel[float32])
	t.Run("float64", testParallel[float64])
}

func testParallel[T int64 | float32 | float64](t *testing.T) {
	rng := newRand()
	maxM := 18
	if !*long {
		maxM = 15
	}
	for m := 0; m <= maxM; m++ {
		a := rough[T](rng, 1<<m)
		want := append([]T(nil), a...)
		serial(want)
		// 3 and 100 cut columns at places that are no powers of two.
		for _, workers := range []int{1, 2, 3, 16, 100} {
			got := append([]T(nil), a...)
			parallel(got, workers)
			requireSameBits(t, got, want)
		}
	}
}

func TestTransformHasTheBitsOfSerialOnAnyNumberOfProcessors(t *testing.T) {
	a := rough[float32](newRand(), 8*share)
	want := append([]float32(nil), a...)
	serial(want)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		requireSameBits(t, transformed(t, a), want)
	}
}

func TestWorkersFor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct{ n, want int }{
		{1, 1}, {share, 1}, {2*share - 1, 1}, {2 * share, 2}, {4 * share, 4}, {1 << 30, 4},
	} {
		if got := workersFor(c.n); got != c.want {
			t.Errorf("n = %d: got %d, want %d", c.n, got, c.want)
		}
	}
}

func TestEachCallsEveryTaskOnce(t *testing.T) {
	for _, c := range []struct{ n, workers int }{{0, 3}, {1, 3}, {2, 3}, {3, 3}, {100, 1}, {1000, 4}} {
		t.Run(fmt.Sprintf("n=%d/workers=%d", c.n, c.workers), func(t *testing.T) {
			calls := make([]atomic.Int32, c.n)
			var running, most atomic.Int32
			each(c.n, c.workers, func(i int) {
				now := running.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				runtime.Gosched()
				calls[i].Add(1)
				running.Add(-1)
			})
			for i := range calls {
				if got := calls[i].Load(); got != 1 {
					t.Errorf("task %d: %d calls", i, got)
				}
			}
			if got := int(most.Load()); got > c.workers {
				t.Errorf("%d tasks at a time", got)
			}
		})
	}
}
