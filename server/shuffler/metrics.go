package shuffler

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
)

// metrics are the figures of a shuffler. On nil, a shuffler without Config.Metrics, the methods do
// nothing. No label names a client, an address or a round.
type metrics struct {
	reports, refusals, tokens, sent *prometheus.CounterVec
	failures                        prometheus.Counter
}

// newMetrics registers the figures, with those that now collects.
func newMetrics(r prometheus.Registerer, now prometheus.Collector) (*metrics, error) {
	if r == nil {
		return nil, nil
	}
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hushgrad_shuffler_" + name, Help: help}, []string{label})
	}
	m := &metrics{
		reports:  counter("reports_total", "Sealed reports that were acknowledged, by result: accepted, or duplicate when they were there before.", "result"),
		refusals: counter("refused_batches_total", "Refused batches by reason: the gRPC code of the answer.", "reason"),
		tokens:   counter("refused_tokens_total", "Batches that were refused because of a token, by reason: bad, or spent on another report before. The log has a warning.", "reason"),
		sent:     counter("forwarded_reports_total", "Reports of rounds that were forwarded, by what the server did: counted or rejected.", "result"),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "hushgrad_shuffler_failed_forwards_total", Help: "Calls that forward and that the server refused or did not answer. They are made again."}),
	}
	if err := errors.Join(r.Register(m.reports), r.Register(m.refusals), r.Register(m.tokens), r.Register(m.sent), r.Register(m.failures), r.Register(now)); err != nil {
		return nil, fl.Invalid("Metrics", err, "must have no figures of another shuffler")
	}
	for _, result := range []string{"accepted", "duplicate"} { // a rate needs a zero to begin with
		m.reports.WithLabelValues(result)
	}
	for _, reason := range []string{"bad", "spent"} {
		m.tokens.WithLabelValues(reason)
	}
	for _, result := range []string{"counted", "rejected"} {
		m.sent.WithLabelValues(result)
	}
	return m, nil
}

// kept notes an acknowledged message.
func (m *metrics) kept(got receipt) {
	if m != nil {
		m.reports.WithLabelValues("accepted").Add(float64(got.accepted))
		m.reports.WithLabelValues("duplicate").Add(float64(got.duplicates))
	}
}

// refused notes a message that was refused with a status.
func (m *metrics) refused(err error) {
	if m != nil {
		m.refusals.WithLabelValues(status.Code(err).String()).Inc()
	}
}

// refusedToken notes a message that was refused because of a token.
func (m *metrics) refusedToken(why error) {
	if m == nil {
		return
	}
	reason := "bad"
	if errors.Is(why, errSpent) {
		reason = "spent"
	}
	m.tokens.WithLabelValues(reason).Inc()
}

// forwarded notes a round that the server has completely.
func (m *metrics) forwarded(counted, rejected int64) {
	if m != nil {
		m.sent.WithLabelValues("counted").Add(float64(counted))
		m.sent.WithLabelValues("rejected").Add(float64(rejected))
	}
}

// failed notes a call that forwards and is to be made again.
func (m *metrics) failed() {
	if m != nil {
		m.failures.Inc()
	}
}

// now collects what a shuffler holds at present.
type now struct{ shuffler *Shuffler }

var (
	heldDesc   = prometheus.NewDesc("hushgrad_shuffler_held_reports", "Sealed reports that are kept.", nil, nil)
	roundsDesc = prometheus.NewDesc("hushgrad_shuffler_rounds", "Rounds whose reports are kept, by state: waiting for the floor of reports, short of the floor though the round is to close, enough for the floor, forwarding, or lost with their secret.", []string{"state"}, nil)
)

// Describe implements prometheus.Collector.
func (n now) Describe(to chan<- *prometheus.Desc) { to <- heldDesc; to <- roundsDesc }

// Collect implements prometheus.Collector.
func (n now) Collect(to chan<- prometheus.Metric) {
	held, states := int64(0), map[string]int{"waiting": 0, "short": 0, "enough": 0, "forwarding": 0, "lost": 0}
	for _, r := range n.shuffler.all() {
		reports := r.held.Load()
		held += reports
		switch r.now() {
		case phaseOpen:
			switch {
			case reports >= r.need:
				states["enough"]++
			case r.closing.Load():
				states["short"]++
			default:
				states["waiting"]++
			}
		case phaseForwarding:
			states["forwarding"]++
		case phaseLost:
			states["lost"]++
		}
	}
	to <- prometheus.MustNewConstMetric(heldDesc, prometheus.GaugeValue, float64(held))
	for state, rounds := range states {
		to <- prometheus.MustNewConstMetric(roundsDesc, prometheus.GaugeValue, float64(rounds), state)
	}
}
