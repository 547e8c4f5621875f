package issuer

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/origin"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Config holds the settings of an Issuer: package server's IssuerConfig, and three more. The zero
// value of every field but Journal means its default.
type Config struct {
	// Journal keeps keys and records below the prefix "issuer/". Required. It stays the
	// caller's.
	Journal journal.Journal
	// Admit decides who is a client, see package server's Admit. The identity has 1 to
	// MaxIdentityBytes bytes. Default: nobody is a client.
	Admit func(context.Context) (identity string, err error)
	// Logger receives what happens to keys, and never who asked for a token. Default
	// slog.Default().
	Logger *slog.Logger
	// MaxKeys bounds the rounds that have keys at one time. Default 64.
	MaxKeys int
	// MaxWaiting bounds the messages of clients that are in progress at one time. Default 4096.
	MaxWaiting int
	// Credentials secure the clients' listener of Serve, OperatorCredentials the operator's.
	// Default: no transport security.
	Credentials, OperatorCredentials credentials.TransportCredentials
	// HTTPSecurity secures the listener for HTTP. It is required there with Credentials, and should ask
	// for what they ask for: Admit sees a certificate only if the listener has verified one. Default: no
	// transport security.
	HTTPSecurity *tls.Config
	// HTTPOrigins are the origins, such as https://example.org, whose pages may call over HTTP from a
	// browser. Default: none but the listener's own. They admit nobody: Admit does.
	HTTPOrigins []string
	// OHTTPKeys are private keys, as hushgrad relay key writes them, with which the listener for HTTP answers requests that a
	// relay of Oblivious HTTP carries. The first one is preferred. Default: there are none, and it answers no relay.
	OHTTPKeys []string
	// Metrics registers the figures of the issuer for Prometheus. Default: none are kept.
	Metrics prometheus.Registerer
	// StatsHandler is told of every connection and call of Serve, for traces. Default: nobody.
	StatsHandler stats.Handler
	// Ready says in words why the issuer should get no calls, for reasons that it does not
	// know of itself. Default: there are none.
	Ready func() error
	// Now is the clock by which keys expire. Default time.Now.
	Now func() time.Time
	// NewKey makes a private key. Default rsa.GenerateKey with admit.KeyBits. Tests have keys that are
	// made already.
	NewKey func() (*rsa.PrivateKey, error)
}

const (
	// MaxIdentityBytes is the largest length of a client's identity.
	MaxIdentityBytes = 1024
	// DefaultLife is how long a key lives when nobody says, MaxLife how long at most.
	DefaultLife = 30 * 24 * time.Hour
	MaxLife     = 400 * 24 * time.Hour
)

func (c Config) withDefaults() (Config, error) {
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Admit == nil {
		c.Admit = Nobody
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewKey == nil {
		c.NewKey = func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, admit.KeyBits) }
	}
	c.MaxKeys = cmp.Or(c.MaxKeys, 64)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, 4096)
	switch {
	case c.Journal == nil:
		return c, fl.Invalid("Journal", "nothing", "is required")
	case c.MaxKeys < 0:
		return c, fl.Invalid("MaxKeys", c.MaxKeys, "must be > 0")
	case c.MaxWaiting < 0:
		return c, fl.Invalid("MaxWaiting", c.MaxWaiting, "must be > 0")
	}
	if _, err := ohttp.ParseKeys("OHTTPKeys", c.OHTTPKeys); err != nil {
		return c, err
	}
	return c, origin.CheckAll("HTTPOrigins", c.HTTPOrigins)
}
