package issuer

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
)

// metrics are the figures of an issuer. On nil, an issuer without Config.Metrics, the methods
// do nothing. No label names a client or a round.
type metrics struct{ answers *prometheus.CounterVec }

// newMetrics registers the figures. keys returns the number of keys.
func newMetrics(r prometheus.Registerer, keys func() int) (*metrics, error) {
	if r == nil {
		return nil, nil
	}
	m := &metrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hushgrad_issuer_answers_total",
		Help: "Answers to clients that asked for a token, by gRPC code. OK is a token, also one that was given before.",
	}, []string{"code"})}
	held := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hushgrad_issuer_keys", Help: "Keys of rounds."}, func() float64 { return float64(keys()) })
	if err := errors.Join(r.Register(m.answers), r.Register(held)); err != nil {
		return nil, fl.Invalid("Metrics", err, "must have no figures of another issuer")
	}
	m.answers.WithLabelValues(codes.OK.String()) // a rate needs a zero to begin with
	return m, nil
}

// answered notes an answer to a client that asked: n tokens, or an error.
func (m *metrics) answered(err error, n int) {
	if err != nil {
		n = 1
	}
	if m != nil {
		m.answers.WithLabelValues(status.Code(err).String()).Add(float64(n))
	}
}
