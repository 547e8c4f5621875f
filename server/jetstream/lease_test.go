package jetstream

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func newLease(c *Cluster, holder string, preferred bool) *lease {
	return &lease{table: c.table, wrote: c.wrote, key: "shard.0", holder: holder, preferred: preferred}
}

// A lease that is renewed stays. One that is not is taken, and its holder finds out.
func TestALeaseIsOneMembersAtATime(t *testing.T) {
	t.Parallel() // it mostly waits
	c := testCluster(t, Config{Shards: 1})
	first, second := newLease(c, "first", true), newLease(c, "second", false)
	if !first.acquire(t.Context()) {
		t.Fatal("a free lease was not taken")
	}
	held, stop := context.WithTimeout(t.Context(), leaseTime+3*beat)
	defer stop()
	go func() { _ = first.hold(held) }()
	if second.acquire(held) {
		t.Fatal("two members hold the lease")
	}
	if !second.acquire(t.Context()) {
		t.Fatal("a lease that is not renewed was not taken")
	}
	if err := first.renew(t.Context()); !errors.Is(err, errFenced) {
		t.Errorf("the first member does not know that it was replaced: %v", err)
	}
	if err := second.renew(t.Context()); err != nil {
		t.Errorf("the second member cannot renew: %v", err)
	}
}

// A renewal whose answer was lost is no other member's.
func TestALostRenewalIsNoOtherMember(t *testing.T) {
	c := testCluster(t, Config{Shards: 1})
	l := newLease(c, "first", true)
	if !l.acquire(t.Context()) {
		t.Fatal("a free lease was not taken")
	}
	before := l.revision
	if err := l.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.revision = before
	if err := l.renew(t.Context()); errors.Is(err, errFenced) {
		t.Errorf("error %v", err)
	}
	if err := l.renew(t.Context()); err != nil {
		t.Errorf("and again: %v", err)
	}
}

// A member that stands in for another one gives the lease back when that one is there again.
func TestALeaseGoesBackToItsMember(t *testing.T) {
	t.Parallel() // it mostly waits
	c := testCluster(t, Config{Shards: 1})
	standIn, own := newLease(c, "stand-in", false), newLease(c, "own", true)
	if !standIn.acquire(t.Context()) {
		t.Fatal("a free lease was not taken")
	}
	taken := make(chan bool, 1)
	go func() { taken <- own.acquire(t.Context()) }()
	if err := standIn.hold(t.Context()); !errors.Is(err, errWanted) {
		t.Fatalf("error %v, want that the lease is wanted", err)
	}
	standIn.release(t.Context())
	select {
	case <-taken:
	case <-time.After(time.Minute):
		t.Fatal("the lease was not taken back")
	}
	if err := own.renew(t.Context()); err != nil {
		t.Errorf("the lease of its own member: %v", err)
	}
}

// A member that cannot do its own work, for lack of a key, leaves it to one that can, and does not ask for
// it back at once.
func TestAMemberThatFailsLeavesItsWorkToOthers(t *testing.T) {
	t.Parallel() // it mostly waits
	c := testCluster(t, Config{Shards: 1})
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	failed, taken, lost := make(chan bool, 1000), make(chan bool, 1000), make(chan bool, 1000)
	working.Go(func() {
		c.campaign(ctx, newLease(c, "first", true), func(context.Context) error {
			failed <- true
			return errors.New("no key")
		})
	})
	<-failed
	working.Go(func() {
		c.campaign(ctx, newLease(c, "second", false), func(ctx context.Context) error {
			taken <- true
			<-ctx.Done()
			lost <- true
			return nil
		})
	})
	select {
	case <-taken:
	case <-time.After(10 * leaseTime):
		t.Fatal("the member that can work does not get the lease")
	}
	select {
	case <-lost:
		t.Error("the member that cannot work has the lease again")
	case <-time.After(2 * leaseTime):
	}
}
