package client

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	for attempt, limit := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 3: 400 * time.Millisecond, 6: 3200 * time.Millisecond,
		7: 5 * time.Second, 11: 5 * time.Second, 12: 5 * time.Second, 100: 5 * time.Second, 1 << 40: 5 * time.Second,
	} {
		seen := map[time.Duration]bool{}
		for range 100 {
			wait := backoff(attempt)
			if wait < limit/2 || wait >= limit {
				t.Errorf("attempt %d: %v, want at least %v and less than %v", attempt, wait, limit/2, limit)
			}
			seen[wait] = true
		}
		if len(seen) == 1 { // by chance with probability below 1e-700
			t.Errorf("attempt %d: 100 clients wait equally long", attempt)
		}
	}
}
