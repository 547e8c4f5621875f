package server

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// overview returns how the server stands. It takes microseconds for each round that is kept.
func (s *Server) overview() overview.Overview {
	o := overview.Overview{
		Started: s.started, Ready: s.Ready(), Models: s.model.versions(), Series: s.scalars.all(),
		Totals: overview.Totals{
			Accepted: valueOf(s.metrics.reports.WithLabelValues(resultAccepted)), Duplicates: valueOf(s.metrics.reports.WithLabelValues(resultDuplicate)),
			Refused: byLabel(s.metrics.refusals), Rejected: byLabel(s.metrics.rejections),
		},
		Clients: s.clients.Load().Connections, Operator: s.operator.Load().Connections, Shuffler: s.shuffler.Load().Connections,
	}
	if s.cfg.Counters != nil {
		for _, shard := range s.cfg.Counters.Shards() {
			o.Shards = append(o.Shards, overview.Shard(shard))
		}
	}
	rounds, all := s.rounds.everything()
	for _, r := range rounds {
		h := r.head()
		view := overview.Round{
			Round: h.round, Kind: all.Add(h.round), State: h.state, Closing: h.closing, Reports: h.reports, Opened: h.opened, Ended: h.ended,
		}
		if r.settled() {
			view.Worth = r.worth
		}
		o.Rounds = append(o.Rounds, view)
	}
	o.Kinds, o.Unknown = all.Kinds, all.Unknown
	return o
}

// everything returns the remembered rounds, oldest first, and the forgotten ones.
func (s *store) everything() ([]*round, *overview.Past) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order), s.past.Clone()
}

// keptVersions is how many models are remembered by their headers.
const keptVersions = 16

func (s *models) note(v overview.Model) {
	s.noting.Lock()
	defer s.noting.Unlock()
	if slices.ContainsFunc(s.noted, func(n overview.Model) bool { return n.Version == v.Version }) {
		return // published again
	}
	s.noted = append(s.noted, v)
	slices.SortFunc(s.noted, func(a, b overview.Model) int { return cmp.Compare(a.Version, b.Version) })
	s.noted = s.noted[max(0, len(s.noted)-keptVersions):]
}

func (s *models) versions() []overview.Model {
	s.noting.Lock()
	defer s.noting.Unlock()
	return slices.Clone(s.noted)
}

// valueOf returns the value of a counter.
func valueOf(c prometheus.Counter) int64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		return 0 // a counter of this package writes itself
	}
	return int64(m.GetCounter().GetValue())
}

// byLabel returns the values of a counter with one label.
func byLabel(c *prometheus.CounterVec) map[string]int64 {
	out := map[string]int64{}
	collected := make(chan prometheus.Metric)
	go func() { defer close(collected); c.Collect(collected) }()
	for one := range collected {
		var m dto.Metric
		if one.Write(&m) == nil {
			out[m.GetLabel()[0].GetValue()] = int64(m.GetCounter().GetValue())
		}
	}
	return out
}
