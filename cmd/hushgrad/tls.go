package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
)

// credentials returns the transport security of the two listeners, nil for
// none.
func (s *serveFlags) credentials() (clients, operator credentials.TransportCredentials, err error) {
	if s.cert == "" {
		return nil, nil, nil
	}
	pair, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		return nil, nil, fmt.Errorf("-tls-cert, -tls-key: %w", err)
	}
	base := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	clients = credentials.NewTLS(base)
	if s.operatorCA == "" {
		return clients, clients, nil
	}
	pem, err := os.ReadFile(s.operatorCA)
	if err != nil {
		return nil, nil, fmt.Errorf("-operator-ca: %w", err)
	}
	mutual := base.Clone()
	mutual.ClientCAs = x509.NewCertPool()
	mutual.ClientAuth = tls.RequireAndVerifyClientCert
	if !mutual.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, nil, fl.Invalid("-operator-ca", s.operatorCA, "must hold PEM certificates")
	}
	return clients, credentials.NewTLS(mutual), nil
}
