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

// labelBlock is the number of labels that are computed before they are used.
const labelBlock = 1 << 11

// eachLabel calls use for ranges of coordinates that cover all, in parallel. labels has those of
// their keys: one for a coordinate in the Paired layout, in the Separate layout one for + and one
// for −. It is valid during the call.
func (f *linear) eachLabel(use func(first int, labels []uint32)) {
	keys := 1
	if f.shape.Layout == Separate {
		keys = 2
	}
	inParallel(f.shape.Dim, func(from, to int) {
		var labels [labelBlock]uint32
		for from < to {
			n := min(to-from, labelBlock/keys)
			f.labels.Fill(labels[:n*keys], uint32(from*keys))
			use(from, labels[:n*keys])
			from += n
		}
	})
}
