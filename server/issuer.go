package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/stats"

	"github.com/hushgrad/hushgrad/server/internal/issuer"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Issuer gives each admitted client one token for each round. It is the party that knows who may
// take part: run it apart from the server. It is safe for concurrent use. See "Issuers" above.
type Issuer struct{ party *issuer.Issuer }

// IssuerConfig holds the settings of an Issuer. The zero value of every field but Journal means its
// default.
type IssuerConfig struct {
	// Journal keeps keys and records below the prefix "issuer/". Required. It stays the caller's, who
	// closes it after the issuer.
	Journal journal.Journal
	// Admit decides who is a client. Default: nobody is.
	Admit Admit
	// Logger receives what happens to keys, and never who asked for a token. Default
	// slog.Default().
	Logger *slog.Logger
	// MaxKeys bounds the rounds that have keys at one time. Default 64.
	MaxKeys int
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
}

func (c IssuerConfig) inner() issuer.Config {
	return issuer.Config{
		Journal: c.Journal, Admit: c.Admit, Logger: c.Logger, MaxKeys: c.MaxKeys,
		Credentials: c.Credentials, OperatorCredentials: c.OperatorCredentials,
		HTTPSecurity: c.HTTPSecurity, HTTPOrigins: c.HTTPOrigins, OHTTPKeys: c.OHTTPKeys, Metrics: c.Metrics, StatsHandler: c.StatsHandler, Ready: c.Ready,
	}
}

// IssuerListeners are where an issuer answers. Serve closes them.
type IssuerListeners struct {
	// Clients and Operator are required.
	Clients, Operator net.Listener
	// HTTP is where the clients' service is offered over HTTP/1.1 and h2, too: to browsers and curl.
	// When nil, it is not.
	HTTP net.Listener
}

// IssuerKeyLife is how long an issuer's key lives when the operator does not say: 30 days.
const IssuerKeyLife = issuer.DefaultLife

// NewIssuer returns an issuer with the keys in its journal. Close ends what it does in the
// background: it deletes keys that have expired, and makes the next keys ahead of time, which takes
// about half a second. The error names a setting, or an entry of the journal that cannot be read.
func NewIssuer(c IssuerConfig) (*Issuer, error) {
	party, err := issuer.New(c.inner())
	if err != nil {
		return nil, err
	}
	return &Issuer{party}, nil
}

// Serve answers calls, with health checks, until ctx ends, and then for at most 2 s those that are
// in progress. It returns nil then, or the error of a write to the journal that may have failed:
// the process should end and be started again.
func (i *Issuer) Serve(ctx context.Context, l IssuerListeners) error {
	return i.party.Serve(ctx, issuer.Listeners(l))
}

// Ready returns nil while the issuer can give tokens, and otherwise an error that says in words
// what is wrong. The health service of Serve follows it within a second.
func (i *Issuer) Ready() error { return i.party.Ready() }

// Close ends the work in the background. No other call may be in progress.
func (i *Issuer) Close() { i.party.Close() }

// Admit decides who the caller of an issuer is, from the context of its call: peer.FromContext has
// the address and the TLS state, metadata.FromIncomingContext the headers, also of a call over HTTP.
// identity distinguishes clients: two callers with one identity get one token between them, and a
// party that can have two identities gets two. It has 1 to 1024 bytes. An error refuses the call: one
// with a gRPC status as it is, every other one as UNAUTHENTICATED without its text.
type Admit func(ctx context.Context) (identity string, err error)

// AdmitCertificates is an [Admit] for callers with a client certificate that the TLS listener has
// verified. The identity is the certificate's subject, and not its key: the authority must give every
// client a subject of its own. Certificates without a subject are refused.
func AdmitCertificates(ctx context.Context) (identity string, err error) {
	return issuer.Certificate(ctx)
}

// AdmitBearers returns an [Admit] for callers who know a secret of a file. A line of the file is the
// name of a client, a blank and the SHA-256 of its secret in hexadecimal digits; lines that are empty
// or begin with # say nothing. The name is the identity: a client with two lines may use either
// secret and is one client. A secret comes in the header "authorization: Bearer SECRET" of a call.
//
// The file does not let its reader in, because a secret has 128 random bits and is not in it. The
// file is read again when it changes, within a second. While it cannot be read, nobody is admitted,
// callers get UNAVAILABLE, and the logger receives why.
func AdmitBearers(path string, logger *slog.Logger) (Admit, error) {
	b, err := issuer.OpenBearers(path, logger)
	if err != nil {
		return nil, err
	}
	return b.Admit, nil
}

// NewBearer draws a secret for a client, and returns the client's line of the file for [AdmitBearers].
// A name has 1 to 256 visible ASCII characters and does not begin with #.
func NewBearer(name string) (secret, line string, err error) { return issuer.NewBearer(name) }
