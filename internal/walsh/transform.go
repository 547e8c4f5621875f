package walsh

import "fmt"

// Transform replaces a by its unnormalised Walsh–Hadamard transform in natural
// order, a[y] ← Σ_x (−1)^popcount(x AND y) a[x].
//
// It costs O(n log n) additions for n = len(a) and works in place. From 2^16
// elements it may use up to GOMAXPROCS goroutines, which have ended when it
// returns; otherwise it allocates nothing. The result is the same to the last
// bit either way; the package comment says when it is exact. Calls on slices
// that do not overlap may run at the same time.
//
// When len(a) is not a power of two, zero included, it returns an error that
// says so and leaves a alone.
//
// Source: Fino and Algazi, Unified Matrix Treatment of the Fast Walsh–Hadamard
// Transform, IEEE Transactions on Computers C-25(11), 1976.
func Transform[T int64 | float32 | float64](a []T) error {
	n := len(a)
	if n == 0 || n&(n-1) != 0 {
		return fmt.Errorf("walsh: length: got %d, rule: must be a power of two", n)
	}
	if workers := workersFor(n); workers > 1 {
		parallel(a, workers)
	} else {
		serial(a)
	}
	return nil
}

// serial transforms a, whose length is a power of two. It finishes each eighth
// before it starts the next, so that every part that fits a cache, of whatever
// size, is fully transformed while it is there; then one pass over a does the
// three remaining levels.
func serial[T int64 | float32 | float64](a []T) {
	if len(a) <= blockLen {
		block(a)
		return
	}
	h := len(a) / 8
	for i := 0; i < len(a); i += h {
		serial(a[i : i+h])
	}
	combine8(a, h, 0, h)
}
