package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// Overview is how a server stands, for those who watch it. Nothing in it is of a single client: no
// report, no address, no token, no key of a batch. The counts of open rounds are exact, so that
// whoever sees two overviews knows how many reports came in between.
type Overview struct {
	Started time.Time
	Ready   error           // see Server.Ready
	Rounds  []RoundOverview // those that the server keeps, oldest first
	// Kinds are all rounds that the server ever opened, forgotten ones included, by what they
	// promise. Unknown is the number of rounds that are missing there: rounds that a server of an
	// older version has forgotten, or of more than 256 kinds.
	Kinds   []Kind
	Unknown int
	Totals  Totals
	Models  []ModelVersion // the newest 16 that were published since the start, and the one before; oldest first
	Series  []Series       // what the training run has published, by name
	Shards  []Shard        // of Config.Counters, nil without them
	// Clients, Operator and Shuffler are the open connections on the listeners.
	Clients, Operator, Shuffler int64
}

// RoundOverview is how a round stands.
type RoundOverview struct {
	Round   fl.Round
	Kind    int // index in Overview.Kinds, −1 for none
	State   service.RoundState
	Closing bool // the operator waits for the shuffler
	Reports int64
	Opened  time.Time
	Ended   time.Time // zero while the round is open
	// Worth is nil without an estimate, where its error is not known, and for rounds that had ended
	// when the server was started.
	Worth *Worth
}

// Totals are what the server has counted since it was started.
type Totals struct {
	Accepted, Duplicates int64            // reports
	Refused              map[string]int64 // batches of reports, by the gRPC code of the answer
	Rejected             map[string]int64 // sealed reports that do not count, by reason: sealed, token, spent or report
}

// ModelVersion is a model that was published.
type ModelVersion struct {
	Version   uint64
	Format    string
	Bytes     int64
	Published time.Time // zero if that was before the server was started
}

// Overview returns how the server stands. It takes microseconds for each round that is kept.
func (s *Server) Overview() Overview {
	o := Overview{
		Started: s.started, Ready: s.Ready(), Models: s.model.versions(), Series: s.scalars.all(),
		Totals: Totals{
			Accepted: valueOf(s.metrics.reports.WithLabelValues(resultAccepted)), Duplicates: valueOf(s.metrics.reports.WithLabelValues(resultDuplicate)),
			Refused: byLabel(s.metrics.refusals), Rejected: byLabel(s.metrics.rejections),
		},
		Clients: s.clients.Load().Connections, Operator: s.operator.Load().Connections, Shuffler: s.shuffler.Load().Connections,
	}
	if s.cfg.Counters != nil {
		o.Shards = s.cfg.Counters.Shards()
	}
	rounds, all := s.rounds.everything()
	for _, r := range rounds {
		h := r.head()
		view := RoundOverview{
			Round: h.round, Kind: all.add(h.round), State: h.state, Closing: h.closing, Reports: h.reports, Opened: h.opened, Ended: h.ended,
		}
		if r.settled() {
			view.Worth = r.worth
		}
		o.Rounds = append(o.Rounds, view)
	}
	o.Kinds, o.Unknown = all.kinds, all.unknown
	return o
}

// everything returns the remembered rounds, oldest first, and the forgotten ones.
func (s *store) everything() ([]*round, *past) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order), s.past.clone()
}

// keptVersions is how many models are remembered by their headers.
const keptVersions = 16

func (s *models) note(v ModelVersion) {
	s.noting.Lock()
	defer s.noting.Unlock()
	s.noted = append(s.noted, v)
	slices.SortFunc(s.noted, func(a, b ModelVersion) int { return cmp.Compare(a.Version, b.Version) })
	s.noted = s.noted[max(0, len(s.noted)-keptVersions):]
}

func (s *models) versions() []ModelVersion {
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
