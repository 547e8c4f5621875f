package jetstream

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hushgrad/hushgrad/server"
)

// figureOf returns the value of a figure of shard 0, and whether it is there.
func figureOf(t *testing.T, from prometheus.Gatherer, name string) (value float64, ok bool) {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue(), true
		}
	}
	return 0, false
}

// A shard that nobody here counts shows that, and nothing else. One that is held shows what waits for a
// snapshot, and how long that was ago. What is read and has no snapshot waits, too.
func TestFiguresSayWhatWaits(t *testing.T) {
	b, from := newBench(t, 2), prometheus.NewRegistry()
	from.MustRegister(&figures{Cluster: b.Cluster, ctx: t.Context(), shards: []*shard{b.shard}})
	want := func(when string, figures map[string]float64) {
		t.Helper()
		for name, want := range figures {
			if got, ok := figureOf(t, from, "hushgrad_shard_"+name); got != want || !ok {
				t.Errorf("%s: %s is %g, there: %t, want %g", when, name, got, ok, want)
			}
		}
	}
	want("free", map[string]float64{"held": 0, "takeovers_total": 0})
	for _, name := range []string{"reports", "snapshot_age_seconds", "waiting_messages"} {
		if got, ok := figureOf(t, from, "hushgrad_shard_"+name); ok {
			t.Errorf("free: %s is %g", name, got)
		}
	}
	b.board.note(func(now *standing) { now.held, now.snapshot = true, time.Now().Add(-time.Hour) })
	b.put(0, kindOpen)
	b.put(1, kindOpen)
	b.put(1, kindReports, sealReports(t, b.round, 3)...)
	want("held", map[string]float64{"held": 1, "waiting_messages": 3})
	b.drain()
	want("read", map[string]float64{"waiting_messages": 3})
	if age, _ := figureOf(t, from, "hushgrad_shard_snapshot_age_seconds"); age < 3600 || age > 7200 {
		t.Errorf("the last snapshot is %g s old, want an hour", age)
	}
	b.must(b.save(t.Context()))
	b.cleaner.wait()
	want("kept", map[string]float64{"waiting_messages": 0})
	if age, _ := figureOf(t, from, "hushgrad_shard_snapshot_age_seconds"); age < 0 || age >= 3600 {
		t.Errorf("the last snapshot is %g s old, and was taken now", age)
	}
	if problems, err := testutil.GatherAndLint(from); len(problems) > 0 || err != nil {
		t.Errorf("%v, %v", problems, err)
	}
}

// Each time that work begins is a takeover. When it ends, the shard is not held.
func TestATakeoverIsCounted(t *testing.T) {
	b := newBench(t, 1)
	b.put(0, kindOpen)
	b.put(0, kindReports, sealReports(t, b.round, 3)...)
	for takeovers := int64(1); takeovers <= 2; takeovers++ {
		work, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.work(work) }()
		want := standing{held: true, takeovers: takeovers, reports: 3}
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			got := b.board.read()
			if got.snapshot = (time.Time{}); got == want {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the shard stands at %+v, want %+v", got, want)
			}
		}
		stop()
		if err := <-done; err != nil || b.board.read().held {
			t.Errorf("%v, held: %t", err, b.board.read().held)
		}
	}
}

// A member says that it leads from the time at which it listens until it leads no more.
func TestALeaderSaysSoWhileItLeads(t *testing.T) {
	c, shown := testCluster(t, Config{Shards: 1}), &figures{}
	m := Member{Seal: testKeys(t), Server: server.Config{Logger: c.cfg.Logger}, Listen: func() (l server.Listeners, err error) {
		if shown.leads.Load() {
			t.Error("the member leads before it listens")
		}
		l.Clients, err = net.Listen("tcp", "127.0.0.1:0")
		return l, err
	}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.lead(ctx, m, shown) }()
	for end := time.Now().Add(time.Minute); !shown.leads.Load() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	led := shown.leads.Load()
	stop()
	if err := <-done; !led || shown.leads.Load() {
		t.Errorf("it led: %t, and leads still: %t, %v", led, shown.leads.Load(), err)
	}
}

// unclean is a shard whose snapshot covers a message that was not deleted, because an older snapshot was still at it.
func unclean(t *testing.T) *bench {
	b := newBench(t, 1)
	b.put(0, kindOpen)
	b.drain()
	b.must(b.save(t.Context()))
	b.cleaner.wait()
	b.put(0, kindReports, sealReports(t, b.round, 1)...)
	b.drain()
	b.cleaner.busy <- struct{}{}
	b.must(b.save(t.Context()))
	<-b.cleaner.busy
	if got, err := b.waiting(t.Context()); err != nil || got[0] != 1 {
		t.Fatalf("%d messages, %v, want one", got, err)
	}
	return b
}

// A message that a snapshot covers does not wait: one that is left is deleted when there is nothing else to do.
func TestMessagesThatAreLeftAreDeleted(t *testing.T) {
	b := unclean(t)
	b.cleaner.finish(b.saved)
	b.cleaner.wait()
	if got, err := b.waiting(t.Context()); err != nil || got[0] != 0 {
		t.Errorf("%d messages, %v, want none", got, err)
	}
}

// A member that takes a shard over deletes what the former one has left, without any new message.
func TestATakeoverDeletesWhatIsLeft(t *testing.T) {
	b := unclean(t)
	next := b.other("next")
	next.every = 10 * time.Millisecond
	work, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- next.work(work) }()
	for end := time.Now().Add(time.Minute); ; {
		if got, err := b.waiting(t.Context()); err == nil && got[0] == 0 {
			break
		}
		if time.Now().After(end) {
			t.Error("the message is left")
			break
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
