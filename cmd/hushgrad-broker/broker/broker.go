// Package broker runs a NATS server in the process, with JetStream. The program hushgrad-broker is one, and tests and
// measurements start some. Start with [Start].
package broker

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/hushgrad/hushgrad/fl"
)

// Config holds the settings of a broker.
type Config struct {
	// Dir is where it keeps its streams. Required unless File says it.
	Dir string
	// Listen is the address for other processes: host and port. Default: other processes
	// cannot reach it, unless File says where.
	Listen string
	// File is a configuration file of nats-server, with routes to other nodes, TLS and accounts.
	// Default: none, for one node without authentication.
	File string
	// Logger receives the broker's warnings and errors. Default slog.Default().
	Logger *slog.Logger
}

// Broker is a NATS server in this process.
type Broker struct{ server *natsserver.Server }

// readyTimeout is how long a broker may take to accept connections.
const readyTimeout = 20 * time.Second

// Start starts a broker. Every message is forced to disk before it is acknowledged: the error names
// sync_interval for a File that wants less.
func Start(cfg Config) (*Broker, error) {
	opts, err := cfg.options()
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	s, err := natsserver.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	s.SetLoggerV2(logger{cmp.Or(cfg.Logger, slog.Default()).With("part", "broker")}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(readyTimeout) {
		s.Shutdown()
		return nil, fmt.Errorf("broker: it was not ready within %v", readyTimeout)
	}
	return &Broker{s}, nil
}

func (cfg Config) options() (*natsserver.Options, error) {
	opts := &natsserver.Options{DontListen: true, SyncAlways: true}
	if cfg.File != "" {
		var err error
		if opts, err = natsserver.ProcessConfigFile(cfg.File); err != nil {
			return nil, err
		}
		if !opts.SyncAlways {
			return nil, fl.Invalid("sync_interval", opts.SyncInterval, "must be always in the block jetstream of %s", cfg.File)
		}
	}
	if cfg.Listen != "" {
		host, port, err := net.SplitHostPort(cfg.Listen)
		if err != nil {
			return nil, fl.Invalid("Listen", cfg.Listen, "must be host:port: %v", err)
		}
		if opts.Port, err = strconv.Atoi(port); err != nil || opts.Port < 0 || opts.Port > 1<<16-1 {
			return nil, fl.Invalid("Listen", cfg.Listen, "must have a port in [0, 65535]")
		}
		opts.Port = cmp.Or(opts.Port, natsserver.RANDOM_PORT)
		opts.Host, opts.DontListen = host, false
	}
	if opts.StoreDir = cmp.Or(opts.StoreDir, cfg.Dir); opts.StoreDir == "" {
		return nil, fl.Invalid("Dir", "", "is required")
	}
	opts.JetStream, opts.NoSigs, opts.NoLog = true, true, false
	return opts, nil
}

// Connect returns a connection to the broker that needs no network.
func (b *Broker) Connect(options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect("", append([]nats.Option{nats.InProcessServer(b.server)}, options...)...)
}

// URL returns where other processes connect.
func (b *Broker) URL() string { return b.server.ClientURL() }

// Close stops the broker and waits until it has.
func (b *Broker) Close() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

// logger passes on what is a warning or worse.
type logger struct{ *slog.Logger }

func (l logger) Noticef(format string, v ...any) { l.Logger.Debug(fmt.Sprintf(format, v...)) }
func (l logger) Warnf(format string, v ...any)   { l.Logger.Warn(fmt.Sprintf(format, v...)) }
func (l logger) Fatalf(format string, v ...any)  { l.Logger.Error(fmt.Sprintf(format, v...)) }
func (l logger) Errorf(format string, v ...any)  { l.Logger.Error(fmt.Sprintf(format, v...)) }
func (l logger) Debugf(string, ...any)           {}
func (l logger) Tracef(string, ...any)           {}
