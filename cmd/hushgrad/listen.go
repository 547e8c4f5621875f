package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	flag "github.com/spf13/pflag"
	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/tlsfile"
)

// listening are the flags of commands that answer calls: the certificate they show, or the
// leave to do without.
type listening struct {
	cert, key string
	insecure  bool
}

func (l *listening) bind(f *flag.FlagSet) {
	f.StringVar(&l.cert, "tls-cert", "", "PEM `file` with the server's certificate chain, for all listeners; reread when it changes")
	f.StringVar(&l.key, "tls-key", "", "PEM `file` with the server's private key")
}

// validate checks the flags, and that no address is open to other machines without TLS.
func (l *listening) validate(flag, address string) error {
	switch {
	case (l.cert == "") != (l.key == ""):
		return fl.Invalid("--tls-cert and --tls-key", l.cert+" and "+l.key, "must be given together")
	case l.insecure && l.cert != "":
		return fl.Invalid("--insecure", true, "must not be given with --tls-cert")
	}
	if err := checkAddress(flag, address); err != nil {
		return err
	}
	if l.cert == "" && !l.insecure && !loopback(address) {
		return fl.Invalid(flag, address, "must be a loopback address, or --tls-cert and --tls-key, or --insecure, must be given")
	}
	return nil
}

// certificate reads the certificate of the listeners, nil for none.
func (l *listening) certificate(logger *slog.Logger) (*tlsfile.Certificate, error) {
	if l.cert == "" {
		return nil, nil
	}
	c, err := tlsfile.LoadCertificate(l.cert, l.key, logger)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	if err := c.CheckValid(time.Now()); err != nil {
		logger.Warn("callers refuse the certificate of this process", "error", err)
	}
	return c, nil
}

// callers are the flags that say whose certificates a listener accepts.
type callers struct {
	who   string // begins the flags' names: operator
	ca    string
	names string
}

func (c *callers) bind(f *flag.FlagSet, who string) {
	c.who = who
	f.StringVar(&c.ca, who+"-ca", "", "PEM `file` with authorities that sign the certificates of the "+who+"; reread when it changes")
	f.StringVar(&c.names, who+"-name", "", "comma-separated `names`: a certificate from --"+who+"-ca is accepted if its common name, a DNS name or a URI is one of them; * accepts every certificate of those authorities")
}

// validate checks the flags of a listener with the given certificate and address.
func (c *callers) validate(l listening, address string) error {
	switch {
	case c.ca == "" && c.names != "":
		return fl.Invalid("--"+c.who+"-name", c.names, "needs --%s-ca", c.who)
	case c.ca != "" && l.cert == "":
		return fl.Invalid("--"+c.who+"-ca", c.ca, "needs --tls-cert and --tls-key")
	case c.ca != "" && c.names == "":
		return fl.Invalid("--"+c.who+"-name", "", "is required with --%s-ca: names, or * for every certificate of those authorities", c.who)
	}
	for _, name := range c.list() {
		if name == "" || strings.Contains(name, "*") && c.names != "*" {
			return fl.Invalid("--"+c.who+"-name", c.names, "must be whole names between commas, or * alone")
		}
	}
	if err := checkAddress("--"+c.who+"-listen", address); err != nil {
		return err
	}
	// Without TLS nobody can be recognized, so --insecure does not help.
	if c.ca == "" && !loopback(address) {
		return fl.Invalid("--"+c.who+"-listen", address, "must be a loopback address, or --%s-ca must be given", c.who)
	}
	return nil
}

func (c *callers) list() []string {
	if c.names == "" {
		return nil
	}
	names := strings.Split(c.names, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
	}
	return names
}

// unused returns an error when there are flags although there is no listener.
func (c *callers) unused() error {
	return notGiven("needs --"+c.who+"-listen", textFlag{"--" + c.who + "-ca", c.ca}, textFlag{"--" + c.who + "-name", c.names})
}

// credentials returns the transport security of a gRPC listener that accepts these callers, or
// everybody when nothing says who they are.
func (c *callers) credentials(own *tlsfile.Certificate, logger *slog.Logger) (credentials.TransportCredentials, error) {
	if c.ca == "" {
		return credentials.NewTLS(own.Config()), nil
	}
	config, err := c.config(own, logger)
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(config), nil
}

// config returns the transport security of a listener that accepts these callers.
func (c *callers) config(own *tlsfile.Certificate, logger *slog.Logger) (*tls.Config, error) {
	authorities, err := tlsfile.LoadAuthorities(c.ca, logger)
	if err != nil {
		return nil, fmt.Errorf("--%s-ca: %w", c.who, err)
	}
	return own.MutualConfig(authorities, func(shown *x509.Certificate) error {
		err := c.accept(shown)
		if err != nil { // its owner sees bad certificate, and no more
			logger.Warn("a caller was refused", "listener", c.who, "error", err)
		}
		return err
	}), nil
}

// accept refuses a certificate that has none of the names.
func (c *callers) accept(shown *x509.Certificate) error {
	names := append([]string{shown.Subject.CommonName}, shown.DNSNames...)
	for _, uri := range shown.URIs {
		names = append(names, uri.String())
	}
	if c.names == "*" || slices.ContainsFunc(c.list(), func(name string) bool { return slices.Contains(names, name) }) {
		return nil
	}
	return fl.Invalid("certificate", strings.Join(names, ", "), "must have a name of --%s-name", c.who)
}
