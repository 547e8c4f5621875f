package server

import (
	"cmp"
	"crypto/tls"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/origin"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// Config holds the settings of a Server. The zero value of every field means
// its default.
type Config struct {
	// Logger receives what happens to rounds, never a report. Default slog.Default().
	Logger *slog.Logger
	// Journal is where rounds, reports, estimates and the model are kept. It stays the
	// caller's, who closes it after the server. Default journal.NewMemory().
	Journal journal.Journal
	// Releases is a directory, made with mode 0700 if it is missing, that remembers which rounds of two
	// servers have released a sum. It must not be in a backup of the journal: then a journal from a
	// backup releases no second sum. A round that was opened with another directory than this one
	// releases nothing. Default: it is in memory, so a round of two servers does not outlive the server.
	Releases string
	// Seal holds the keys to which reports are sealed in rounds with a shuffler. Default: none,
	// and such rounds are refused.
	Seal *seal.Keys
	// Log is where outsiders read what this server did. Default: nowhere.
	Log Log
	// Counters count sealed reports in the place of this server. Default: it counts them itself.
	Counters Counters
	// Limits bound what peers send.
	Limits
	// MaxOpenRounds bounds the rounds open at the same time. Default 16.
	MaxOpenRounds int
	// KeepRounds is the number of closed rounds whose estimates are kept; older
	// ones are forgotten (their ids are not). Default 16.
	KeepRounds int
	// Credentials secure the clients' listener, OperatorCredentials the
	// operator's and ShufflerCredentials the shuffler's. Default: no transport security.
	Credentials, OperatorCredentials, ShufflerCredentials credentials.TransportCredentials
	// HTTPSecurity secures the listener for HTTP. Default: no transport security.
	HTTPSecurity *tls.Config
	// HTTPOrigins are the origins, such as https://example.org, whose pages may call over HTTP from a
	// browser. Default: none but the listener's own.
	HTTPOrigins []string
	// OHTTPKeys are private keys, as hushgrad relay key writes them, with which the listener for HTTP answers requests that a
	// relay of Oblivious HTTP carries. The first one is preferred. Default: there are none, and it answers no relay.
	OHTTPKeys []string
	// Metrics registers the figures of the server for Prometheus. Default: they are not shown there.
	Metrics prometheus.Registerer
	// StatsHandler is told of every connection and call of Serve, for traces. Default: nobody.
	StatsHandler stats.Handler
	// Ready says in words why the server should get no calls, for reasons that it does not
	// know of itself. Default: there are none.
	Ready func() error
	// Reflection describes the services to whoever asks. Default: it does not.
	Reflection bool
}

func (c Config) withDefaults() (_ Config, err error) {
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.Journal = cmp.Or[journal.Journal](c.Journal, journal.NewMemory())
	c.MaxOpenRounds = cmp.Or(c.MaxOpenRounds, 16)
	c.KeepRounds = cmp.Or(c.KeepRounds, 16)
	switch {
	case c.MaxOpenRounds < 0:
		return c, fl.Invalid("MaxOpenRounds", c.MaxOpenRounds, "must be > 0")
	case c.KeepRounds < 0:
		return c, fl.Invalid("KeepRounds", c.KeepRounds, "must be > 0")
	}
	if err := origin.CheckAll("HTTPOrigins", c.HTTPOrigins); err != nil {
		return c, err
	}
	if _, err := ohttp.ParseKeys("OHTTPKeys", c.OHTTPKeys); err != nil {
		return c, err
	}
	for _, key := range c.Log.Gateways {
		if _, err := ohttp.ParseConfig("Log.Gateways", key); err != nil {
			return c, err
		}
	}
	c.Limits, err = c.Limits.WithDefaults()
	return c, err
}
