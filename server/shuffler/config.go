package shuffler

import (
	"cmp"
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/origin"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

// Config holds the settings of a Shuffler. The zero value of every field but Name, Upstream and
// Journal means its default.
type Config struct {
	// Name is what fl.Round.Shuffler must say. Required.
	Name string
	// Upstream is the connection to the server, which offers the services Rounds and Shuffled
	// there. Required. It stays the caller's.
	Upstream grpc.ClientConnInterface
	// Journal keeps rounds and reports below the prefix "shuffler/". Required. It stays the
	// caller's.
	Journal journal.Journal
	// Secrets is a directory, made with mode 0700 if it is missing, for the secrets of the rounds.
	// It must not be in the journal's, nor in a backup. With another directory than the one with which
	// the journal began there are no rounds of two servers. Default: they are in memory, and a restart loses the
	// reports of the rounds that are open.
	Secrets string
	// Keys are the keys to which clients seal second shares, see fl.Round.ShareKey. Default: there are
	// none, and rounds of a mechanism for two servers are refused.
	Keys *seal.Keys
	// Floor is the fewest sealed reports that are forwarded, whatever min_reports says.
	// Default 100.
	Floor int
	// Logger receives what happens to rounds, and never a report, its id or an address. Default
	// slog.Default().
	Logger *slog.Logger
	// MaxRounds bounds the rounds at one time whose reports are kept. Default 16.
	MaxRounds int
	// MaxReports bounds the sealed reports that are kept for a round without tokens, where whoever
	// reaches the shuffler sends any number. Tokens bound the reports of other rounds. Default 1 000 000.
	MaxReports int
	// Limits bound what clients send. The journal holds two models of MaxModelBytes.
	server.Limits
	// ForwardBytes bounds the sealed reports in one message to the server, which must take it. A
	// message has one report at least. Default 1 MiB.
	ForwardBytes int
	// Credentials secure the listener of Serve. Default: no transport security.
	Credentials credentials.TransportCredentials
	// HTTPSecurity secures the listener for HTTP. Default: no transport security.
	HTTPSecurity *tls.Config
	// HTTPOrigins are the origins, such as https://example.org, whose pages may call over HTTP from a
	// browser. Default: none but the listener's own.
	HTTPOrigins []string
	// OHTTPKeys are private keys, as hushgrad relay key writes them, with which the listener for HTTP answers requests that a
	// relay of Oblivious HTTP carries. The first one is preferred. Default: there are none, and it answers no relay.
	OHTTPKeys []string
	// Metrics registers the figures of the shuffler for Prometheus. Default: none are kept.
	Metrics prometheus.Registerer
	// StatsHandler is told of every connection and call of Serve, for traces. Default: nobody.
	StatsHandler stats.Handler
	// Ready says in words why the shuffler should get no calls, for reasons that it does not know
	// of itself. Default: there are none.
	Ready func() error
	// Reflection describes the services to whoever asks. Default: it does not.
	Reflection bool
	// Now is the clock by which deadlines come. Default time.Now.
	Now func() time.Time

	every time.Duration // between two questions to the server about the same thing. Default 1 s; tests set less.
}

const (
	// DefaultFloor is the default of Config.Floor.
	DefaultFloor = 100
	// DefaultMaxReports is the default of Config.MaxReports.
	DefaultMaxReports = 1_000_000
)

func (c Config) withDefaults() (_ Config, err error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.every = cmp.Or(c.every, time.Second)
	c.Floor = cmp.Or(c.Floor, DefaultFloor)
	c.MaxRounds = cmp.Or(c.MaxRounds, 16)
	c.MaxReports = cmp.Or(c.MaxReports, DefaultMaxReports)
	c.ForwardBytes = cmp.Or(c.ForwardBytes, 1<<20)
	if err := checkName(c.Name); err != nil {
		return c, err
	}
	switch {
	case c.Upstream == nil:
		return c, fl.Invalid("Upstream", "nothing", "is required")
	case c.Journal == nil:
		return c, fl.Invalid("Journal", "nothing", "is required")
	case c.Floor < 0 || c.Floor > fl.MaxReports:
		return c, fl.Invalid("Floor", c.Floor, "must be in [1, %d]", fl.MaxReports)
	case c.MaxRounds < 0:
		return c, fl.Invalid("MaxRounds", c.MaxRounds, "must be > 0")
	case c.MaxReports < 0 || c.MaxReports > fl.MaxReports:
		return c, fl.Invalid("MaxReports", c.MaxReports, "must be in [1, %d]", fl.MaxReports)
	case c.ForwardBytes < 0 || c.ForwardBytes > server.MaxMessageBytes:
		return c, fl.Invalid("ForwardBytes", c.ForwardBytes, "must be in [1, %d]", server.MaxMessageBytes)
	}
	if err := origin.CheckAll("HTTPOrigins", c.HTTPOrigins); err != nil {
		return c, err
	}
	if _, err := ohttp.ParseKeys("OHTTPKeys", c.OHTTPKeys); err != nil {
		return c, err
	}
	c.Limits, err = c.Limits.WithDefaults()
	return c, err
}

// checkName asks of a name what fl.Round asks of its Shuffler.
func checkName(name string) error {
	if name == "" {
		return fl.Invalid("Name", "", "is required")
	}
	r := fl.Round{
		ID: "r", Mechanism: "m", Dim: 1, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: 1,
		PublicSeed: [32]byte{1}, Shuffler: name, SealKey: []byte{1},
	}
	var p *fl.ParamError
	if err := r.Validate(); errors.As(err, &p) {
		return fl.Invalid("Name", name, "%s", p.Rule)
	}
	return nil
}
