package walsh

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// share is the number of elements per goroutine from which sharing out pays:
	// on two cores it begins to at twice as many, measured on float64.
	share = 1 << 15

	// tasksPerWorker is how finely work is cut, so that a worker that is held up
	// delays the others little.
	tasksPerWorker = 4
)

// workersFor returns the number of goroutines to transform n elements on.
func workersFor(n int) int {
	if n < 2*share {
		return 1
	}
	return min(runtime.GOMAXPROCS(0), n/share)
}

// parallel does the operations of serial on up to workers goroutines: first on
// parts small enough to go round, each by serial, then one pass of three levels
// over all of a after the other. Inside a pass the columns are shared out; no
// two tasks of a pass touch the same element.
func parallel[T int64 | float32 | float64](a []T, workers int) {
	tasks := tasksPerWorker * workers
	h := len(a)
	for h > blockLen && len(a)/h < tasks {
		h /= 8
	}
	each(len(a)/h, workers, func(i int) {
		serial(a[i*h : (i+1)*h])
	})
	for ; h < len(a); h *= 8 {
		groups := len(a) / (8 * h)
		cuts := min(h, (tasks+groups-1)/groups)
		each(groups*cuts, workers, func(i int) {
			group, cut := i/cuts, i%cuts
			combine8(a[8*h*group:8*h*(group+1)], h, cut*h/cuts, (cut+1)*h/cuts)
		})
	}
}

// each calls task for 0, …, n−1, each once, on up to workers goroutines, and
// returns when all calls have. The caller only waits: with two workers this
// measured faster than letting the caller be one of them.
func each(n, workers int, task func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, workers) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				task(int(i))
			}
		})
	}
	group.Wait()
}
