package relay

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/ohttp"
	"github.com/hushgrad/hushgrad/internal/origin"
)

// Config holds the settings of a Relay. The zero value of every field but Gateway means its default.
type Config struct {
	// Gateway is the URL of the only gateway to which requests go, https, or http on this machine. Without a path it is
	// /.well-known/ohttp-gateway there. Required.
	Gateway string
	// GatewaySecurity are the settings of TLS with the gateway. Default: the system's authorities.
	GatewaySecurity *tls.Config
	// Security secures the listener. Default: no transport security.
	Security *tls.Config
	// MaxMessageBytes bounds a request and a response before their encryption. Default 8 MiB, at least 8 KiB.
	MaxMessageBytes int
	// MaxInFlightBytes bounds the memory of requests and responses on their way. A request that finds no room is refused
	// with 503. Default 256 MiB, at least 4 times MaxMessageBytes.
	MaxInFlightBytes int64
	// MaxConnections bounds the connections at the same time. One more closes an old one. Default 1024.
	MaxConnections int
	// MaxPerSecond bounds the requests of all clients together. One more is refused with 429. Default 1000.
	MaxPerSecond int
	// Timeout is how long a client may take to send a request, the gateway to answer it, and the client to take the
	// response. Default 30 s each.
	Timeout time.Duration
	// ShutdownTimeout is how long requests in progress may take when Serve ends. Default 2 s.
	ShutdownTimeout time.Duration
	// Logger receives what happens to the gateway, and nothing of clients. Default slog.Default().
	Logger *slog.Logger
	// Metrics registers the figures of the relay for Prometheus. Default: none are kept.
	Metrics prometheus.Registerer
	// Carried, if not nil, is told of each request when it is answered, for traces: when it came, and what became of it, as in the figures.
	Carried func(came time.Time, result string)
}

func (c Config) withDefaults() (Config, error) {
	c.MaxMessageBytes = cmp.Or(c.MaxMessageBytes, 8<<20)
	c.MaxInFlightBytes = cmp.Or(c.MaxInFlightBytes, max(256<<20, 4*int64(c.MaxMessageBytes)))
	c.MaxConnections = cmp.Or(c.MaxConnections, 1024)
	c.MaxPerSecond = cmp.Or(c.MaxPerSecond, 1000)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 2*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	var err error
	if c.Gateway, err = gatewayURL(c.Gateway); err != nil {
		return c, err
	}
	switch {
	case c.MaxMessageBytes < 8<<10:
		return c, fl.Invalid("MaxMessageBytes", c.MaxMessageBytes, "must be at least %d", 8<<10)
	case c.MaxInFlightBytes < 4*int64(c.MaxMessageBytes):
		return c, fl.Invalid("MaxInFlightBytes", c.MaxInFlightBytes, "must be at least 4 times MaxMessageBytes = %d", c.MaxMessageBytes)
	case c.MaxConnections < 0:
		return c, fl.Invalid("MaxConnections", c.MaxConnections, "must be > 0")
	case c.MaxPerSecond < 0:
		return c, fl.Invalid("MaxPerSecond", c.MaxPerSecond, "must be > 0")
	case c.Timeout < 0:
		return c, fl.Invalid("Timeout", c.Timeout, "must be > 0")
	case c.ShutdownTimeout < 0:
		return c, fl.Invalid("ShutdownTimeout", c.ShutdownTimeout, "must be > 0")
	}
	return c, nil
}

// gatewayURL checks the URL of a gateway and fills in its path.
func gatewayURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || origin.Check("", u.Scheme+"://"+u.Host) != nil {
		return "", fl.Invalid("Gateway", text, "must be the URL of a gateway: https:// and a host, such as https://shuffler.example:7125, or http:// on this machine")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = ohttp.GatewayPath
	}
	return u.String(), nil
}
