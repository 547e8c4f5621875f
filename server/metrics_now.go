package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hushgrad/hushgrad/server/limits"
)

// now collects what holds at the moment it is asked: rounds, and the load of the listeners.
type now struct{ *Server }

var roundsNow = prometheus.NewDesc("hushgrad_rounds", "Rounds that the server keeps, by state.", []string{"state"}, nil)

// loadNow are the figures of a listener.
var loadNow = []struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(limits.Load) int64
}{
	{loadDesc("connections", "Open connections."), prometheus.GaugeValue, func(l limits.Load) int64 { return l.Connections }},
	{loadDesc("calls", "Calls in progress, streams included."), prometheus.GaugeValue, func(l limits.Load) int64 { return l.Streams }},
	{loadDesc("held_bytes", "Bytes of messages that are not complete yet."), prometheus.GaugeValue, func(l limits.Load) int64 { return l.HeldBytes }},
	{loadDesc("decoding_bytes", "Memory for messages that are decoded or counted."), prometheus.GaugeValue, func(l limits.Load) int64 { return l.DecodingBytes }},
	{loadDesc("crowded_out_connections_total", "Connections closed because there were too many."), prometheus.CounterValue, func(l limits.Load) int64 { return l.EvictedFull }},
	{loadDesc("oversized_connections_total", "Connections closed because they held too much memory."), prometheus.CounterValue, func(l limits.Load) int64 { return l.EvictedMemory }},
	{loadDesc("stalled_calls_total", "Calls ended because their peers made no progress."), prometheus.CounterValue, func(l limits.Load) int64 { return l.Stalled }},
}

func loadDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("hushgrad_"+name, help, []string{"listener"}, nil)
}

// Describe implements prometheus.Collector.
func (n now) Describe(to chan<- *prometheus.Desc) {
	to <- roundsNow
	for _, f := range loadNow {
		to <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (n now) Collect(to chan<- prometheus.Metric) {
	for state, count := range n.rounds.states() {
		to <- prometheus.MustNewConstMetric(roundsNow, prometheus.GaugeValue, float64(count), state)
	}
	clients, operator, shuffler, http := n.Load()
	for _, f := range loadNow {
		to <- prometheus.MustNewConstMetric(f.desc, f.kind, float64(f.value(clients)), "clients")
		to <- prometheus.MustNewConstMetric(f.desc, f.kind, float64(f.value(operator)), "operator")
		to <- prometheus.MustNewConstMetric(f.desc, f.kind, float64(f.value(shuffler)), "shuffler")
		to <- prometheus.MustNewConstMetric(f.desc, f.kind, float64(f.value(http)), "http")
	}
}
