package cluster_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/jetstream"
	"github.com/hushgrad/hushgrad/server/journal"
)

// figures returns what a member of a cluster shows, by name and shard.
func figures(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		name, ok := strings.CutPrefix(f.GetName(), "hushgrad_")
		if !ok || !strings.HasPrefix(name, "shard_") && !strings.HasPrefix(name, "cluster_") {
			continue
		}
		for _, m := range f.GetMetric() {
			key := name
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			out[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

// Two members with a shard each say together who leads, who counts what, how much, and that nothing waits. When
// one leaves, the other one says that it took the shard, with all its reports. The one that left says nothing.
func TestMembersSayWhoCountsWhat(t *testing.T) {
	t.Parallel() // it mostly waits
	const n = 50
	p := startParty(t, 2)
	first, second := prometheus.NewRegistry(), prometheus.NewRegistry()
	leave := p.joinWatched(0, journal.NewMemory(), first)
	p.joinWatched(1, journal.NewMemory(), second)
	sum := func(name string) float64 { return figures(t, first)[name] + figures(t, second)[name] }
	eventually(t, "member at its own shard", func() bool {
		a, b := figures(t, first), figures(t, second)
		return a["shard_held 0"] == 1 && a["shard_held 1"] == 0 && b["shard_held 0"] == 0 && b["shard_held 1"] == 1 && sum("cluster_leads") == 1
	})
	if _, there := figures(t, first)["shard_reports 1"]; there {
		t.Error("a member shows the reports of a shard that another one counts")
	}
	operator, shuffler := p.dial()
	opened, err := operator.OpenRound(t.Context(), cocoRound("r", n))
	if err != nil {
		t.Fatal(err)
	}
	c := gather(t, opened, n)
	if err := c.forward(t.Context(), shuffler, c.sealed); err != nil {
		t.Fatal(err)
	}
	eventually(t, "reports that are counted and kept", func() bool {
		a, asked := figures(t, first)["shard_waiting_messages 0"]
		b, too := figures(t, second)["shard_waiting_messages 1"]
		return asked && too && a+b == 0 && sum("shard_reports 0")+sum("shard_reports 1") == n
	})
	taken := figures(t, second)["shard_takeovers_total 0"]
	leave()
	eventually(t, "takeover", func() bool {
		b := figures(t, second)
		return b["shard_held 0"] == 1 && b["shard_takeovers_total 0"] > taken && b["shard_reports 0"]+b["shard_reports 1"] == n && b["cluster_leads"] == 1
	})
	if left := figures(t, first); len(left) > 0 {
		t.Errorf("a member that has left shows %v", left)
	}
	again := jetstream.Member{Journal: journal.NewMemory(), Seal: p.keys, Server: server.Config{Metrics: second}, Listen: func() (server.Listeners, error) { return server.Listeners{}, nil }}
	var param *fl.ParamError
	if err := p.cluster.Serve(t.Context(), again); !errors.As(err, &param) || param.Param != "Metrics" {
		t.Errorf("another member with the same figures: %v", err)
	}
}
