package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/fl"
)

// remote are the flags of commands that talk to a server.
type remote struct{ server, ca, cert, key string }

func (r *remote) bind(f *flag.FlagSet, use string) {
	f.StringVar(&r.server, "server", "", "`address` of hushgrad serve: "+use)
	f.StringVar(&r.ca, "tls-ca", "", "PEM `file` with the authorities that sign the server's certificate; required unless -server is a loopback address")
	f.StringVar(&r.cert, "tls-cert", "", "PEM `file` with a certificate chain for a server that asks for one")
	f.StringVar(&r.key, "tls-key", "", "PEM `file` with its private key")
}

func (r *remote) validate() error {
	switch {
	case r.server == "" && r.ca+r.cert+r.key != "":
		return fl.Invalid("-server", "", "is required with -tls-ca, -tls-cert and -tls-key")
	case (r.cert == "") != (r.key == ""):
		return fl.Invalid("-tls-cert and -tls-key", r.cert+" and "+r.key, "must be given together")
	case r.cert != "" && r.ca == "":
		return fl.Invalid("-tls-cert", r.cert, "needs -tls-ca")
	case r.server != "" && r.ca == "" && !loopback(r.server):
		return fl.Invalid("-server", r.server, "must be a loopback address, or -tls-ca must be given")
	}
	return nil
}

// dial returns a connection, which is not tried before its first use.
func (r *remote) dial() (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if r.ca != "" {
		config, err := r.tls()
		if err != nil {
			return nil, err
		}
		creds = credentials.NewTLS(config)
	}
	conn, err := grpc.NewClient(r.server, grpc.WithTransportCredentials(creds))
	if err != nil {
		return nil, fl.Invalid("-server", r.server, "must be an address: %v", err)
	}
	return conn, nil
}

func (r *remote) tls() (*tls.Config, error) {
	pem, err := os.ReadFile(r.ca)
	if err != nil {
		return nil, fmt.Errorf("-tls-ca: %w", err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fl.Invalid("-tls-ca", r.ca, "must hold PEM certificates")
	}
	if r.cert == "" {
		return config, nil
	}
	pair, err := tls.LoadX509KeyPair(r.cert, r.key)
	if err != nil {
		return nil, fmt.Errorf("-tls-cert, -tls-key: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}
