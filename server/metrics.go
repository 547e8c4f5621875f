package server

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/internal/guard"
	"github.com/hushgrad/hushgrad/server/seal"
)

// metrics are the figures of a server. Labels have a few values that are known beforehand. No label names a client, an
// address or a round: those series would have no end, and the first two would say who sent
// what.
type metrics struct {
	reports, batches, refusals, rejections  *prometheus.CounterVec
	tokens, bytes, unkept, sealed, suspects prometheus.Counter
	decode, commit                          prometheus.Histogram
}

// newMetrics registers the figures, with those that now collects, unless r is nil.
func newMetrics(r prometheus.Registerer, now prometheus.Collector) (*metrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hushgrad_" + name, Help: help}, labels)
	}
	total := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "hushgrad_" + name, Help: help})
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hushgrad_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(1e-4, 2, 16), // to 3.3 s
		})
	}
	m := &metrics{
		reports:  counter("reports_total", "Reports of accepted batches and of the shuffler, by result: accepted, or duplicate when they had been counted before.", "result"),
		batches:  counter("batches_total", "Batches of reports, by result: accepted, which includes those that were sent again, or refused.", "result"),
		refusals: counter("refused_batches_total", "Refused batches by reason: the gRPC code of the answer.", "reason"),
		rejections: counter("rejected_reports_total", "Sealed reports that do not count, by reason, each time that the shuffler forwards them: "+
			"sealed (cannot be opened), token (missing or bad), spent (its token, on another report) or report (refused by the mechanism).", "reason"),
		sealed:   total("forwarded_reports_total", "Sealed reports that the shuffler has forwarded, each time."),
		tokens:   total("spent_tokens_total", "Tokens that were spent on reports, each once."),
		bytes:    total("report_bytes_total", "Bytes of the reports of accepted batches."),
		suspects: total("suspect_coordinates_total", "Coordinates of estimates at which more reports agree than honest clients send: an alarm. It is false with a probability of at most 1e-6 a round."),
		unkept:   total("failed_commits_total", "Changes that the journal could not keep."),
		decode:   seconds("decode_seconds", "Time to decode the reports of one batch and add them up."),
		commit:   seconds("commit_seconds", "Time until one change of the journal is durable."),
	}
	if r != nil {
		var err error
		for _, c := range []prometheus.Collector{
			m.reports, m.batches, m.refusals, m.rejections, m.sealed, m.tokens, m.bytes, m.unkept, m.suspects, m.decode, m.commit, now,
		} {
			err = errors.Join(err, r.Register(c))
		}
		if err != nil {
			return nil, fl.Invalid("Metrics", err, "must have no figures of another server")
		}
	}
	for _, result := range []string{resultAccepted, resultDuplicate} { // a rate needs a zero to begin with
		m.reports.WithLabelValues(result)
	}
	for _, result := range []string{resultAccepted, resultRefused} {
		m.batches.WithLabelValues(result)
	}
	for _, reason := range []string{rejectedSealed, rejectedToken, rejectedSpent, rejectedReport} {
		m.rejections.WithLabelValues(reason)
	}
	return m, nil
}

const (
	resultAccepted  = "accepted"
	resultDuplicate = "duplicate"
	resultRefused   = "refused"

	rejectedSealed = "sealed"
	rejectedToken  = "token"
	rejectedSpent  = "spent"
	rejectedReport = "report"
)

// counted notes an accepted batch.
func (m *metrics) counted(got receipt, req *service.SubmitReportsRequest) {
	m.reports.WithLabelValues(resultAccepted).Add(float64(got.accepted))
	m.reports.WithLabelValues(resultDuplicate).Add(float64(got.duplicates))
	m.batches.WithLabelValues(resultAccepted).Inc()
	m.bytes.Add(float64(len(req.GetReports())))
	if len(req.GetTokens()) > 0 {
		m.tokens.Add(float64(got.accepted))
	}
}

// forwarded notes what became of reports from the shuffler: reasons says, for each, why it does
// not count, or nil.
func (m *metrics) forwarded(got receipt, reasons []error, tokens bool) {
	m.sealed.Add(float64(len(reasons)))
	m.reports.WithLabelValues(resultAccepted).Add(float64(got.accepted))
	m.reports.WithLabelValues(resultDuplicate).Add(float64(got.duplicates))
	if tokens {
		m.tokens.Add(float64(got.accepted))
	}
	for _, why := range reasons {
		if why != nil {
			m.rejections.WithLabelValues(rejectionOf(why)).Inc()
		}
	}
}

// rejectionOf is the reason why a report from the shuffler does not count.
func rejectionOf(why error) string {
	switch {
	case errors.Is(why, seal.ErrSealed):
		return rejectedSealed
	case errors.Is(why, admit.ErrToken):
		return rejectedToken
	case errors.Is(why, errSpent):
		return rejectedSpent
	}
	return rejectedReport
}

// refused notes a batch that was refused with an error.
func (m *metrics) refused(err error) {
	m.batches.WithLabelValues(resultRefused).Inc()
	answer, _ := statuses.Of(err, "")
	m.refusals.WithLabelValues(status.Code(answer).String()).Inc()
}

// committed notes how a change of the journal ended, from its start until now.
func (m *metrics) committed(start time.Time, err error) {
	if err != nil {
		m.unkept.Inc()
		return
	}
	m.commit.Observe(time.Since(start).Seconds())
}

// now collects what holds at the moment it is asked: rounds, the log, and the load of the listeners.
type now struct{ *Server }

var roundsNow = prometheus.NewDesc("hushgrad_rounds", "Rounds that the server keeps, by state.", []string{"state"}, nil)

var (
	entriesNow   = prometheus.NewDesc("hushgrad_log_entries", "Entries of the log for outsiders.", nil, nil)
	witnessedNow = prometheus.NewDesc("hushgrad_log_witnessed_entries", "Entries that a witness has signed, by the beginning of the witness's key.", []string{"witness"}, nil)
)

// loadNow are the figures of a listener.
var loadNow = []struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(guard.Load) int64
}{
	{loadDesc("connections", "Open connections."), prometheus.GaugeValue, func(l guard.Load) int64 { return l.Connections }},
	{loadDesc("calls", "Calls in progress, streams included."), prometheus.GaugeValue, func(l guard.Load) int64 { return l.Streams }},
	{loadDesc("held_bytes", "Bytes of messages that are not complete yet."), prometheus.GaugeValue, func(l guard.Load) int64 { return l.HeldBytes }},
	{loadDesc("decoding_bytes", "Memory for messages that are decoded or counted."), prometheus.GaugeValue, func(l guard.Load) int64 { return l.DecodingBytes }},
	{loadDesc("crowded_out_connections_total", "Connections closed because there were too many."), prometheus.CounterValue, func(l guard.Load) int64 { return l.EvictedFull }},
	{loadDesc("oversized_connections_total", "Connections closed because they held too much memory."), prometheus.CounterValue, func(l guard.Load) int64 { return l.EvictedMemory }},
	{loadDesc("stalled_calls_total", "Calls ended because their peers made no progress."), prometheus.CounterValue, func(l guard.Load) int64 { return l.Stalled }},
}

func loadDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("hushgrad_"+name, help, []string{"listener"}, nil)
}

// Describe implements prometheus.Collector.
func (n now) Describe(to chan<- *prometheus.Desc) {
	to <- roundsNow
	to <- entriesNow
	to <- witnessedNow
	for _, f := range loadNow {
		to <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (n now) Collect(to chan<- prometheus.Metric) {
	for state, count := range n.rounds.states() {
		to <- prometheus.MustNewConstMetric(roundsNow, prometheus.GaugeValue, float64(count), state)
	}
	if n.recovered.Load() && n.log != nil {
		to <- prometheus.MustNewConstMetric(entriesNow, prometheus.GaugeValue, float64(n.log.Size()))
		for key, entries := range n.log.Witnessed() {
			to <- prometheus.MustNewConstMetric(witnessedNow, prometheus.GaugeValue, float64(entries), key)
		}
	}
	// Where the clients' and the operator's services are on one listener, its load is the operator's.
	for listener, g := range map[string]*guard.Guard{"clients": n.clients, "operator": n.operator, "shuffler": n.shuffler, "http": n.http} {
		load := g.Load()
		for _, f := range loadNow {
			to <- prometheus.MustNewConstMetric(f.desc, f.kind, float64(f.value(load)), listener)
		}
	}
}
