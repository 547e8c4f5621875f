package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	flag "github.com/spf13/pflag"
	"golang.org/x/time/rate"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/jetstream"
)

// brokers are the flags of a command that works in a cluster: which brokers it uses, and how it
// shows them who it is.
type brokers struct {
	urls          string
	name          string
	creds         string
	ca, cert, key string
}

// bind binds the flags. use says what the brokers are for.
func (b *brokers) bind(f *flag.FlagSet, use string) {
	f.StringVar(&b.urls, "nats", "", "comma-separated `URLs` of NATS brokers with JetStream: "+use)
	f.StringVar(&b.name, "nats-cluster", "hushgrad", "`name` of the cluster of hushgrad at these brokers")
	f.StringVar(&b.creds, "nats-creds", "", "`file` with the credentials for the brokers")
	f.StringVar(&b.ca, "nats-tls-ca", "", "PEM `file` with the authorities that sign the certificates of the brokers; required unless all have loopback addresses")
	f.StringVar(&b.cert, "nats-tls-cert", "", "PEM `file` with a certificate chain for brokers that ask for one")
	f.StringVar(&b.key, "nats-tls-key", "", "PEM `file` with its private key")
}

func (b *brokers) validate() error {
	if b.urls == "" {
		return b.unused("needs --nats")
	}
	if (b.cert == "") != (b.key == "") {
		return fl.Invalid("--nats-tls-cert and --nats-tls-key", b.cert+" and "+b.key, "must be given together")
	}
	if b.cert != "" && b.ca == "" {
		return fl.Invalid("--nats-tls-cert", b.cert, "needs --nats-tls-ca")
	}
	for _, one := range strings.Split(b.urls, ",") {
		u, err := url.Parse(one)
		if err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return fl.Invalid("--nats", one, "must be a URL such as nats://broker.example:4222")
		}
		if b.ca == "" && !loopback(u.Hostname()+":0") {
			return fl.Invalid("--nats", one, "must have a loopback address, or --nats-tls-ca must be given")
		}
	}
	return nil
}

// unused returns an error for a flag about brokers that is given where there are none.
func (b *brokers) unused(rule string) error {
	return notGiven(rule, textFlag{"--nats-creds", b.creds}, textFlag{"--nats-tls-ca", b.ca},
		textFlag{"--nats-tls-cert", b.cert}, textFlag{"--nats-tls-key", b.key})
}

// connect returns a connection that goes on trying.
func (b *brokers) connect(logger *slog.Logger) (*nats.Conn, error) {
	options := b.options(logger)
	if b.ca != "" {
		config, err := followTLS("nats-", b.ca, b.cert, b.key, logger)
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Secure(config()))
	}
	nc, err := nats.Connect(b.urls, options...)
	if err != nil {
		return nil, fmt.Errorf("--nats: %w", err)
	}
	return nc, nil
}

// options returns the options of all connections.
func (b *brokers) options(logger *slog.Logger) []nats.Option {
	away := rate.Sometimes{Interval: complainEvery}
	options := append(jetstream.Options(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // or this process has closed the connection
				logger.Warn("no connection to the brokers", "error", err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			away.Do(func() { logger.Warn("the brokers cannot be reached, trying again", "error", err) })
		}),
		nats.ReconnectHandler(func(*nats.Conn) { logger.Info("connected to the brokers again") }))
	if b.creds != "" {
		options = append(options, nats.UserCredentials(b.creds))
	}
	return options
}

// unlessStopped returns the error of waiting for brokers, and nil for a process that was stopped
// while it waited.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// complainEvery is between two lines of the log about brokers that cannot be reached.
const complainEvery = 10 * time.Second

// errNotMet is why a member that waits for brokers is not ready.
var errNotMet = errors.New("waiting for the brokers: a majority of them is needed")
