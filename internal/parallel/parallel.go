// Package parallel shares out a loop over elements that do not depend on one another. Use it where
// a vector has millions of coordinates. Start with [Ranges].
package parallel

import (
	"runtime"
	"sync"
)

// share is the number of elements for which another goroutine pays.
const share = 1 << 15

// Ranges calls do for ranges [from, to) that cover [0, n), on as many goroutines as there are
// processors, and returns when all calls have. do only writes what belongs to its range.
func Ranges(n int, do func(from, to int)) {
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
