package shuffler

import (
	"context"
	"sync"
)

// claims are the keys of reports that calls are deciding about.
type claims struct {
	mu    sync.Mutex
	byKey map[[keyBytes]byte]chan struct{} // closed when the call has decided
}

// take claims all keys of a call, until release is called. It waits while another call decides
// about one of them.
func (c *claims) take(ctx context.Context, entries []entry) (release func(), err error) {
	mine := make(chan struct{})
	for {
		other := c.add(entries, mine)
		if other == nil {
			return func() {
				c.drop(entries, mine)
				close(mine)
			}, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// add claims all keys for a call, or returns a call that has claimed one of them.
func (c *claims) add(entries []entry, mine chan struct{}) (other chan struct{}) {
	c.mu.Lock()
	for _, e := range entries {
		if theirs := c.byKey[e.key]; theirs != nil && theirs != mine {
			other = theirs
			break
		}
		c.byKey[e.key] = mine
	}
	c.mu.Unlock()
	if other != nil {
		c.drop(entries, mine)
	}
	return other
}

func (c *claims) drop(entries []entry, mine chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if c.byKey[e.key] == mine {
			delete(c.byKey, e.key)
		}
	}
}
