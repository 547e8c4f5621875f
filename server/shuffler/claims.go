package shuffler

import (
	"context"
	"sync"
)

// claims are the keys of reports and tokens that calls are deciding about.
type claims struct {
	mu    sync.Mutex
	byKey map[[keyBytes]byte]chan struct{} // closed when the call has decided
}

// take claims all keys of a call, until release is called. It waits while another call decides
// about one of them.
func (c *claims) take(ctx context.Context, keys [][keyBytes]byte) (release func(), err error) {
	mine := make(chan struct{})
	for {
		other := c.add(keys, mine)
		if other == nil {
			return func() {
				c.drop(keys, mine)
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
func (c *claims) add(keys [][keyBytes]byte, mine chan struct{}) (other chan struct{}) {
	c.mu.Lock()
	for _, key := range keys {
		if theirs := c.byKey[key]; theirs != nil && theirs != mine {
			other = theirs
			break
		}
		c.byKey[key] = mine
	}
	c.mu.Unlock()
	if other != nil {
		c.drop(keys, mine)
	}
	return other
}

func (c *claims) drop(keys [][keyBytes]byte, mine chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if c.byKey[key] == mine {
			delete(c.byKey, key)
		}
	}
}
