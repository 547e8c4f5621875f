package jetstream

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// figures are what a member says of itself and of its shards to Prometheus. The only label is the number of a
// shard, below Config.Shards. No label names a member: each process has figures of its own, and Prometheus
// adds the instance that it asked.
type figures struct {
	*Cluster
	ctx    context.Context // ends with the work of the member
	shards []*shard
	leads  atomic.Bool
}

// standing is how a shard stands at this member.
type standing struct {
	held      bool
	takeovers int64
	reports   int64     // counted, in open rounds
	snapshot  time.Time // of the last snapshot, or of the takeover behind it
}

// board has the standing of a shard, for those who watch its work.
type board struct {
	mu  sync.Mutex
	now standing
}

func (b *board) note(change func(*standing)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.now)
}

func (b *board) read() standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

var (
	leadsDesc     = prometheus.NewDesc("hushgrad_cluster_leads", "1 while this member leads, and 0 otherwise.", nil, nil)
	heldDesc      = shardDesc("held", "1 while this member counts the shard, and 0 otherwise.")
	takeoversDesc = shardDesc("takeovers_total", "Times that this member took the shard, the first one included.")
	reportsDesc   = shardDesc("reports", "Reports of open rounds that are counted, on the member that counts the shard.")
	ageDesc       = shardDesc("snapshot_age_seconds", "Time since the last snapshot or the takeover behind it, on the member that counts the shard. A shard without new messages takes no snapshot.")
	waitingDesc   = shardDesc("waiting_messages", "Messages that no snapshot covers, on the member that counts the shard. Not there while the brokers do not answer.")
)

func shardDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("hushgrad_shard_"+name, help, []string{"shard"}, nil)
}

// Describe implements prometheus.Collector.
func (f *figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{leadsDesc, heldDesc, takeoversDesc, reportsDesc, ageDesc, waitingDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Cost: a request to the brokers for each lane, if a shard is held.
func (f *figures) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(leadsDesc, oneIf(f.leads.Load()))
	var held []int
	for _, s := range f.shards {
		number, now := strconv.Itoa(s.index), s.board.read()
		gauge(heldDesc, oneIf(now.held), number)
		to <- prometheus.MustNewConstMetric(takeoversDesc, prometheus.CounterValue, float64(now.takeovers), number)
		if now.held {
			held = append(held, s.index)
			gauge(reportsDesc, float64(now.reports), number)
			gauge(ageDesc, time.Since(now.snapshot).Seconds(), number)
		}
	}
	if len(held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(f.ctx, attempt)
	defer cancel()
	waiting, err := f.waiting(ctx)
	if err != nil {
		return // the brokers are busy
	}
	for _, shard := range held {
		gauge(waitingDesc, float64(waiting[shard]), strconv.Itoa(shard))
	}
}

func oneIf(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}
