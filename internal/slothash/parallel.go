package slothash

import (
	"runtime"
	"sync"
)

// share is the number of elements for which another goroutine pays.
const share = 1 << 15

// inParallel calls do for ranges that cover [0, n), on as many goroutines as there are
// processors. do only writes what belongs to its range.
func inParallel(n int, do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n/share)
	if workers <= 1 {
		do(0, n)
		return
	}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() { do(w*n/workers, (w+1)*n/workers) })
	}
	group.Wait()
}
