package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"strings"

	flag "github.com/spf13/pflag"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/tlsfile"
)

// remote are the flags of commands that talk to another party: by default --server, --tls-ca,
// --tls-cert and --tls-key.
type remote struct {
	server, ca, cert, key string

	flag   string // names the party: server
	prefix string // of the other flags
}

// bind adds the flags. The default of --server is what r has.
func (r *remote) bind(f *flag.FlagSet, use string) {
	r.bindParty(f, "server", "", "hushgrad serve", use)
}

func (r *remote) bindParty(f *flag.FlagSet, party, prefix, of, use string) {
	r.flag, r.prefix = "--"+party, prefix
	f.StringVar(&r.server, party, r.server, "`address` of "+of+": "+use)
	f.StringVar(&r.ca, prefix+"tls-ca", "", "PEM `file` with the authorities that sign the certificate of --"+party+"; required unless that is a loopback address")
	f.StringVar(&r.cert, prefix+"tls-cert", "", "PEM `file` with a certificate chain, where the "+party+" asks for one")
	f.StringVar(&r.key, prefix+"tls-key", "", "PEM `file` with its private key")
}

func (r *remote) validate() error {
	ca, cert, key := r.tlsFlags()
	switch {
	case r.server == "" && r.ca+r.cert+r.key != "":
		return fl.Invalid(r.flag, "", "is required with %s, %s and %s", ca, cert, key)
	case (r.cert == "") != (r.key == ""):
		return fl.Invalid(cert+" and "+key, r.cert+" and "+r.key, "must be given together")
	case r.cert != "" && r.ca == "":
		return fl.Invalid(cert, r.cert, "needs %s", ca)
	case r.server == "":
		return nil
	}
	if several := strings.FieldsFunc(r.server, func(c rune) bool { return strings.ContainsRune(";, ", c) }); strings.ContainsAny(r.server, "; ") && len(several) > 1 {
		return fl.Invalid(r.flag, r.server, "must be host:port, with commas between several: type %s", strings.Join(several, ","))
	}
	for _, address := range r.addresses() {
		if err := checkAddress(r.flag, address); err != nil {
			return err
		}
		if host, port, _ := net.SplitHostPort(address); host == "" {
			return fl.Invalid(r.flag, address, "must have a host: type 127.0.0.1:%s", port)
		}
	}
	if r.ca == "" && !r.nearby() {
		return fl.Invalid(r.flag, r.server, "must be a loopback address, or %s must be given", ca)
	}
	return nil
}

func (r *remote) tlsFlags() (ca, cert, key string) {
	return "--" + r.prefix + "tls-ca", "--" + r.prefix + "tls-cert", "--" + r.prefix + "tls-key"
}

// dial returns a connection, which is not tried before its first use.
func (r *remote) dial(options ...grpc.DialOption) (*grpc.ClientConn, error) {
	if r.ca == "" {
		return r.connect(nil, options...)
	}
	config, err := r.tls()
	if err != nil {
		return nil, err
	}
	return r.connect(config.Clone, options...)
}

// connected checks the flags and calls use with a connection. required is the error where there is no --server.
func (r *remote) connected(required string, use func(*grpc.ClientConn) error) error {
	if r.server == "" {
		return fl.Invalid("--server", "", "%s", required)
	}
	if err := r.validate(); err != nil {
		return err
	}
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	return use(conn)
}

// connect returns a connection with the settings of TLS that config returns for each attempt, without TLS
// for nil.
func (r *remote) connect(config func() *tls.Config, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	h := &handshake{TransportCredentials: insecure.NewCredentials(), remote: r, config: config}
	if config != nil {
		h.TransportCredentials = credentials.NewTLS(config())
	}
	target := r.server
	if addresses := r.addresses(); len(addresses) > 1 {
		target = "members:///" + addresses[0]
		options = append(options, tryAll(addresses)...)
	}
	options = append(append(options, h.explained()...), grpc.WithTransportCredentials(h))
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, fl.Invalid(r.flag, r.server, "must be an address: %v", err)
	}
	return conn, nil
}

func (r *remote) tls() (*tls.Config, error) {
	ca, cert, key := r.tlsFlags()
	pem, err := os.ReadFile(r.ca)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ca, err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fl.Invalid(ca, r.ca, "must hold PEM certificates")
	}
	if r.cert == "" {
		return config, nil
	}
	pair, err := tlsfile.LoadPair(r.cert, r.key)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", cert, key, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
