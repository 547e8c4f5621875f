package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
)

// handshake is the transport security of connections to a party. It remembers in one sentence why the last
// connection failed before the party had said anything.
//
// In TLS 1.3 a client's handshake ends before the server looks at the client's certificate. What the client
// writes meanwhile meets a closed connection, and the reason, which is on its way, is never read: broken pipe.
// So after a handshake in which the server asked for a certificate nothing is written before the server
// has said something: its settings, or why it refuses.
type handshake struct {
	credentials.TransportCredentials // for what is no handshake
	remote                           *remote
	config                           func() *tls.Config    // of one connection, nil for no TLS
	mistake                          atomic.Pointer[error] // nil for none
}

// greetingTimeout is for servers of others, which may say nothing before the client does. hushgrad's own
// speak first.
const greetingTimeout = 2 * time.Second

// ClientHandshake implements credentials.TransportCredentials.
func (h *handshake) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if h.config == nil {
		conn, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, raw)
		return &open{Conn: conn, handshake: h}, info, err
	}
	config, asked := h.config(), false
	own := config.Certificates
	config.Certificates = nil
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked = true
		if len(own) == 0 {
			return &tls.Certificate{}, nil // says that there is none
		}
		return &own[0], nil // of whatever authority: the server says what is wrong with it
	}
	conn, info, err := credentials.NewTLS(config).ClientHandshake(ctx, authority, raw)
	if err == nil && asked {
		conn, err = awaitGreeting(ctx, conn)
	}
	var mistake error
	if err != nil && ctx.Err() == nil {
		mistake = h.remote.tlsMistake(err, asked)
	}
	h.note(mistake)
	return conn, info, err
}

// Clone implements credentials.TransportCredentials.
func (h *handshake) Clone() credentials.TransportCredentials { return h }

func (h *handshake) note(mistake error) {
	if mistake == nil {
		h.mistake.Store(nil)
		return
	}
	h.mistake.Store(&mistake)
}

// awaitGreeting waits until the server says something, or for greetingTimeout.
func awaitGreeting(ctx context.Context, conn net.Conn) (net.Conn, error) {
	end := time.Now().Add(greetingTimeout)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		end = deadline
	}
	first := make([]byte, 1)
	err := conn.SetReadDeadline(end)
	if err == nil {
		_, err = io.ReadFull(conn, first)
	}
	var silent net.Error
	switch {
	case errors.As(err, &silent) && silent.Timeout():
		first = nil
	case err != nil:
		_ = conn.Close() // the error says more
		return nil, err
	}
	return &greeted{conn, io.MultiReader(bytes.NewReader(first), conn)}, conn.SetReadDeadline(time.Time{})
}

// greeted is a connection some of whose bytes were read already: all has them, too.
type greeted struct {
	net.Conn
	all io.Reader
}

// Read implements net.Conn.
func (c *greeted) Read(p []byte) (int, error) { return c.all.Read(p) }

// open is a connection without TLS. A server with TLS takes what the client says for damage, and closes it.
type open struct {
	net.Conn
	handshake *handshake
	greeted   atomic.Bool // the server has said something
}

// alertRecord begins what a server with TLS says to a client without. No HTTP/2 server begins so.
const alertRecord = 21

// Read implements net.Conn.
func (c *open) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && p[0] != alertRecord && !c.greeted.Swap(true) {
		c.handshake.note(nil)
	}
	c.look(n > 0, err)
	return n, err
}

// Write implements net.Conn.
func (c *open) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.look(false, err)
	return n, err
}

// look notes that the server ends the connection before it has said anything but an alert.
func (c *open) look(said bool, err error) {
	if !c.greeted.Load() && (said || cut(err)) {
		c.handshake.note(c.handshake.remote.openMistake())
	}
}

// cut reports whether a peer has ended a connection, in whatever words.
func cut(err error) bool {
	var timeout net.Error
	return err != nil && !errors.Is(err, net.ErrClosed) && !(errors.As(err, &timeout) && timeout.Timeout())
}

// openMistake is what is wrong when a server does not answer without TLS.
func (r *remote) openMistake() error {
	ca, _, _ := r.tlsFlags()
	return fl.Invalid(r.flag, r.server, "must be a server without TLS, and closes the connection: one with TLS needs %s", ca)
}

// tlsMistake is what is wrong when a server refuses the connection, or the client does, which was asked for a
// certificate or not yet.
func (r *remote) tlsMistake(err error, asked bool) error {
	ca, cert, key := r.tlsFlags()
	if asked && r.cert == "" && cut(err) {
		return fl.Invalid(cert+" and "+key, "", "are required: %s asks for a certificate", r.server)
	}
	var (
		plain   tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		other   *tls.CertificateVerificationError
		alert   *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return fl.Invalid(ca, r.ca, "must hold the authority that has signed the certificate of %s %s", r.flag, r.server)
	case errors.As(err, &name):
		return fl.Invalid(r.flag, r.server, "must be a name in the server's certificate: %s", strings.TrimPrefix(name.Error(), "x509: "))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fl.Invalid(r.flag, r.server, "must have a certificate that is valid now: it is from %s to %s",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339))
	case errors.As(err, &other):
		return fl.Invalid(r.flag, r.server, "must have a certificate that holds: %v", other.Err)
	case errors.As(err, &alert) && alert.Op == "remote error":
		return r.refused(alert.Err.Error())
	case strings.Contains(err.Error(), "ALPN"): // credentials have no type for it
		return fl.Invalid(r.flag, r.server, "must be a listener for gRPC: it answers with TLS and without HTTP/2")
	case asked && cut(err):
		return fl.Invalid(cert, r.cert, "must be one that %s accepts, which closes the connection: its log says why", r.server)
	case errors.As(err, &plain):
		return fl.Invalid(r.flag, r.server, "must answer with TLS, and does not: a server without needs no %s", ca)
	case cut(err):
		return fl.Invalid(r.flag, r.server, "must answer with TLS, and has closed the connection: it is being stopped or started, or is a server without TLS")
	}
	return nil
}

// Alerts of TLS, RFC 8446, 6.
const (
	alertBadCertificate      tls.AlertError = 42
	alertCertificateExpired  tls.AlertError = 45
	alertUnknownAuthority    tls.AlertError = 48
	alertProtocolVersion     tls.AlertError = 70
	alertCertificateRequired tls.AlertError = 116
	alertNoProtocol          tls.AlertError = 120
)

// refused is what a server's alert says. crypto/tls has its text alone.
func (r *remote) refused(text string) error {
	_, cert, key := r.tlsFlags()
	switch text {
	case alertCertificateRequired.Error():
		return fl.Invalid(cert+" and "+key, r.cert, "are required: %s asks for a certificate", r.server)
	case alertUnknownAuthority.Error():
		return fl.Invalid(cert, r.cert, "must be signed by an authority that %s accepts", r.server)
	case alertCertificateExpired.Error():
		return fl.Invalid(cert, r.cert, "must be valid now: %s finds that it has expired, or is not valid yet", r.server)
	case alertBadCertificate.Error():
		return fl.Invalid(cert, r.cert, "must have a name that %s accepts: its log says which", r.server)
	case alertProtocolVersion.Error():
		return fl.Invalid(r.flag, r.server, "must speak TLS 1.3")
	case alertNoProtocol.Error():
		return fl.Invalid(r.flag, r.server, "must be a listener for gRPC: it answers with TLS and without HTTP/2")
	}
	return fl.Invalid(r.flag, r.server, "must accept the connection: it says %q", text)
}
