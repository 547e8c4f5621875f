package server

import "sync"

// claims are the units that calls are deciding about.
type claims struct {
	mu    sync.Mutex
	byKey map[string]*claim
}

// claim is one call's units. done is closed when they are decided.
type claim struct {
	units []unit
	done  chan struct{}
}

// add claims all units of a call, or returns a call that has claimed one of them.
func (c *claims) add(mine *claim) (other *claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[string]*claim{}
	}
	for _, u := range mine.units {
		if theirs := c.byKey[u.key]; theirs != nil && theirs != mine {
			c.drop(mine)
			return theirs
		}
		c.byKey[u.key] = mine
	}
	return nil
}

// remove ends a claim.
func (c *claims) remove(mine *claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(mine)
	close(mine.done)
}

func (c *claims) drop(mine *claim) {
	for _, u := range mine.units {
		if c.byKey[u.key] == mine {
			delete(c.byKey, u.key)
		}
	}
}
