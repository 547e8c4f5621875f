package server

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"

	"github.com/hushgrad/hushgrad/fl"
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
	// Seal holds the keys to which reports are sealed in rounds with a shuffler. Default: none,
	// and such rounds are refused.
	Seal *seal.Keys
	// MaxMessageBytes bounds one gRPC message after decompression. Default 4 MiB,
	// at least 64 KiB, at most 1 GiB.
	MaxMessageBytes int
	// MaxModelBytes bounds a published model. Default 1 GiB.
	MaxModelBytes int64
	// MaxDim bounds the coordinates of a round. Default fl.DefaultMaxDim, at most fl.MaxDim.
	MaxDim int
	// MaxOpenRounds bounds the rounds open at the same time. Default 16.
	MaxOpenRounds int
	// KeepRounds is the number of closed rounds whose estimates are kept; older
	// ones are forgotten (their ids are not). Default 16.
	KeepRounds int
	// MaxConnections bounds the connections at the same time, on each listener. When one too
	// many comes, an old one is closed. Default 1024.
	MaxConnections int
	// MaxInFlightBytes bounds the memory for messages that are on their way in or being
	// handled, on each listener. When peers send more than half of it without completing
	// their messages, connections are closed. Default 256 MiB or 16 times MaxMessageBytes,
	// whichever is more; at least 8 times MaxMessageBytes.
	MaxInFlightBytes int64
	// ProgressTimeout is how long a call waits for its peer to send a message or to take
	// one. Default 30 s.
	ProgressTimeout time.Duration
	// ShutdownTimeout is how long Serve waits for calls in progress when its
	// context ends. Default 2 s.
	ShutdownTimeout time.Duration
	// Credentials secure the clients' listener, OperatorCredentials the
	// operator's and ShufflerCredentials the shuffler's. Default: no transport security.
	Credentials, OperatorCredentials, ShufflerCredentials credentials.TransportCredentials
	// Metrics registers the figures of the server for Prometheus. Default: none are kept.
	Metrics prometheus.Registerer
	// StatsHandler is told of every connection and call of Serve, for traces. Default: nobody.
	StatsHandler stats.Handler
	// Ready says in words why the server should get no calls, for reasons that it does not
	// know of itself. Default: there are none.
	Ready func() error
	// Reflection describes the services to whoever asks. Default: it does not.
	Reflection bool
}

const (
	minMessageBytes = 64 << 10
	maxMessageBytes = 1 << 30
)

func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Journal == nil {
		c.Journal = journal.NewMemory()
	}
	c.MaxMessageBytes = cmp.Or(c.MaxMessageBytes, 4<<20)
	c.MaxModelBytes = cmp.Or(c.MaxModelBytes, 1<<30)
	c.MaxDim = cmp.Or(c.MaxDim, fl.DefaultMaxDim)
	c.MaxOpenRounds = cmp.Or(c.MaxOpenRounds, 16)
	c.KeepRounds = cmp.Or(c.KeepRounds, 16)
	c.MaxConnections = cmp.Or(c.MaxConnections, 1024)
	c.MaxInFlightBytes = cmp.Or(c.MaxInFlightBytes, max(256<<20, 16*int64(c.MaxMessageBytes)))
	c.ProgressTimeout = cmp.Or(c.ProgressTimeout, 30*time.Second)
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 2*time.Second)
	switch {
	case c.MaxMessageBytes < minMessageBytes || c.MaxMessageBytes > maxMessageBytes:
		return c, fl.Invalid("MaxMessageBytes", c.MaxMessageBytes, "must be in [%d, %d]", minMessageBytes, maxMessageBytes)
	case c.MaxModelBytes < 0:
		return c, fl.Invalid("MaxModelBytes", c.MaxModelBytes, "must be > 0")
	case c.MaxDim < 0 || c.MaxDim > fl.MaxDim:
		return c, fl.Invalid("MaxDim", c.MaxDim, "must be in [1, %d]", fl.MaxDim)
	case c.MaxOpenRounds < 0:
		return c, fl.Invalid("MaxOpenRounds", c.MaxOpenRounds, "must be > 0")
	case c.KeepRounds < 0:
		return c, fl.Invalid("KeepRounds", c.KeepRounds, "must be > 0")
	case c.MaxConnections < 0:
		return c, fl.Invalid("MaxConnections", c.MaxConnections, "must be > 0")
	case c.MaxInFlightBytes < 8*int64(c.MaxMessageBytes):
		return c, fl.Invalid("MaxInFlightBytes", c.MaxInFlightBytes, "must be at least 8 times MaxMessageBytes = %d", c.MaxMessageBytes)
	case c.ProgressTimeout < 0:
		return c, fl.Invalid("ProgressTimeout", c.ProgressTimeout, "must be > 0")
	case c.ShutdownTimeout < 0:
		return c, fl.Invalid("ShutdownTimeout", c.ShutdownTimeout, "must be > 0")
	}
	return c, nil
}
