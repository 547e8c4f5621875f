package relay

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hushgrad/hushgrad/fl"
)

// What becomes of a request.
const (
	carried = "carried" // the gateway's answer was passed on
	refused = "refused" // it was no request for a gateway, or too long
	limited = "limited" // there were too many
	failed  = "failed"  // the gateway did not answer
)

// metrics are the figures of a relay. No label names a client or an address.
type metrics struct{ requests *prometheus.CounterVec }

// newMetrics registers the figures, unless r is nil.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hushgrad_relay_requests_total",
		Help: "Requests by result: carried, refused because they are for no gateway, limited because there are too many, or failed because the gateway does not answer.",
	}, []string{"result"})}
	for _, result := range []string{carried, refused, limited, failed} { // a rate needs a zero to begin with
		m.requests.WithLabelValues(result)
	}
	if r != nil {
		if err := r.Register(m.requests); err != nil {
			return nil, fl.Invalid("Metrics", err, "must have no figures of another relay")
		}
	}
	return m, nil
}
