package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// feed makes states of a source and gives each one that is new to all who have joined.
type feed struct {
	source Source
	make   func(overview.Overview, []Rate) State

	mu      sync.Mutex
	ended   bool
	readers map[chan []byte]bool
	made    time.Time // of the newest state
	plain   []byte    // it, without its time
	newest  []byte    // it

	rates    []Rate // of the last minutes in which reports came
	seen     int64  // reports accepted at the last look
	seenAt   time.Time
	watching bool // seen is known
}

func newFeed(source Source, make func(overview.Overview, []Rate) State) *feed {
	return &feed{source: source, make: make, readers: map[chan []byte]bool{}}
}

// run looks at the source until ctx ends.
func (f *feed) run(ctx context.Context) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.look()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// look notes how fast reports come, and sends a new state.
func (f *feed) look() {
	o := f.source.Overview()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.measure(o.Totals.Accepted, time.Now())
	if len(f.readers) > 0 {
		f.update(o)
	}
}

// end sends the last state and ends all streams. compute is called before, where somebody looks.
func (f *feed) end(compute func(overview.Overview)) {
	o := f.source.Overview()
	f.mu.Lock()
	looked := len(f.readers) > 0
	f.mu.Unlock()
	if looked {
		compute(o)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.measure(o.Totals.Accepted, time.Now())
	f.update(o)
	f.ended = true
	for r := range f.readers {
		close(r)
	}
	f.readers = nil
}

// sampling is the time over which reports are counted, and maxRates how many rates are kept.
const (
	sampling = time.Second
	maxRates = 300
)

// measure appends a rate, unless nothing came before and after.
func (f *feed) measure(accepted int64, now time.Time) {
	passed := now.Sub(f.seenAt)
	if f.watching && passed < sampling {
		return
	}
	if f.watching {
		rate := Rate{Time: now.UTC().Truncate(time.Millisecond), PerSecond: float64(accepted-f.seen) / passed.Seconds()}
		if n := len(f.rates); rate.PerSecond > 0 || n > 0 && f.rates[n-1].PerSecond > 0 {
			f.rates = append(f.rates[max(0, n-maxRates+1):n:n], rate) // readers keep the old ones
		}
	}
	f.seen, f.seenAt, f.watching = accepted, now, true
}

// update makes a state and gives it to all if it is new. The caller holds f.mu.
func (f *feed) update(o overview.Overview) {
	state := f.make(o, f.rates)
	f.made = time.Now()
	plain, err := json.Marshal(state)
	if err == nil && bytes.Equal(plain, f.plain) {
		return
	}
	now := f.made.UTC().Truncate(time.Millisecond)
	state.Time = &now
	newest, _ := json.Marshal(state) // a State is finite, so there is no error
	f.plain, f.newest = plain, newest
	for r := range f.readers {
		offer(r, newest)
	}
}

// offer puts a state into a channel for one, in the place of an older one.
func offer(r chan []byte, state []byte) {
	select {
	case <-r:
	default:
	}
	r <- state
}

// current returns the newest state, which is at most one period old.
func (f *feed) current() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.made) >= period {
		f.update(f.source.Overview())
	}
	return f.newest
}

// join returns a channel with the newest state and those that follow. A slow reader misses some. It is
// closed at the end.
func (f *feed) join() (states <-chan []byte, leave func()) {
	newest := f.current()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := make(chan []byte, 1)
	r <- newest
	if f.ended {
		close(r)
		return r, func() {}
	}
	f.readers[r] = true
	return r, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.readers, r)
	}
}
