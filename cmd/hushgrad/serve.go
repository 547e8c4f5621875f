package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server"
	"google.golang.org/grpc/credentials"
)

const serveUsage = `Usage: hushgrad serve [flags]

Runs the gRPC parameter server until it is interrupted. Rounds and the model are
kept in memory. Clients and the operator have listeners of their own. A party that
reaches the operator's listener decides what clients are asked.

`

// serveFlags are the flags of the serve command.
type serveFlags struct {
	listen, operatorListen string
	cert, key, operatorCA  string
	logFormat              string
	logLevel               slog.Level
	config                 server.Config
}

func serve(ctx context.Context, args []string, std command.Streams) error {
	s, err := parseServe(args, std.Err)
	if err != nil {
		return err
	}
	options := &slog.HandlerOptions{Level: s.logLevel}
	s.config.Logger = slog.New(slog.NewTextHandler(std.Err, options))
	if s.logFormat == "json" {
		s.config.Logger = slog.New(slog.NewJSONHandler(std.Err, options))
	}
	if s.config.Credentials, s.config.OperatorCredentials, err = s.credentials(); err != nil {
		return err
	}
	srv, err := server.New(s.config)
	if err != nil {
		return err
	}
	var l server.Listeners
	if l.Clients, err = net.Listen("tcp", s.listen); err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	if l.Operator, err = net.Listen("tcp", s.operatorListen); err != nil {
		return errors.Join(fmt.Errorf("-operator-listen: %w", err), l.Clients.Close())
	}
	return srv.Serve(ctx, l)
}

func parseServe(args []string, stderr io.Writer) (*serveFlags, error) {
	s := &serveFlags{}
	f := newFlags("serve", serveUsage, stderr)
	f.StringVar(&s.listen, "listen", "127.0.0.1:7117", "`address` for clients")
	f.StringVar(&s.operatorListen, "operator-listen", "127.0.0.1:7118", "`address` for the operator")
	f.StringVar(&s.cert, "tls-cert", "", "PEM `file` with the server's certificate chain, for both listeners")
	f.StringVar(&s.key, "tls-key", "", "PEM `file` with the server's private key")
	f.StringVar(&s.operatorCA, "operator-ca", "", "PEM `file` with authorities: a certificate from one of them makes an operator; required unless -operator-listen is a loopback address")
	f.IntVar(&s.config.MaxMessageBytes, "max-message-bytes", 4<<20, "largest gRPC message accepted")
	f.Int64Var(&s.config.MaxModelBytes, "max-model-bytes", 1<<30, "largest model accepted")
	f.IntVar(&s.config.MaxOpenRounds, "max-open-rounds", 16, "rounds open at the same time")
	f.IntVar(&s.config.KeepRounds, "keep-rounds", 16, "closed rounds whose estimates are kept")
	f.DurationVar(&s.config.ShutdownTimeout, "shutdown-timeout", 10*time.Second, "how long to wait for calls in progress")
	f.StringVar(&s.logFormat, "log-format", "text", "text or json")
	f.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "debug, info, warn or error")
	if err := command.ParseOnly(f, args); err != nil {
		return nil, err
	}
	return s, s.validate()
}

func (s *serveFlags) validate() error {
	// The server takes a zero for its default, which -keep-rounds 0 does not ask for.
	for _, limit := range []struct {
		flag  string
		value int64
	}{
		{"-max-message-bytes", int64(s.config.MaxMessageBytes)}, {"-max-model-bytes", s.config.MaxModelBytes},
		{"-max-open-rounds", int64(s.config.MaxOpenRounds)}, {"-keep-rounds", int64(s.config.KeepRounds)},
		{"-shutdown-timeout", int64(s.config.ShutdownTimeout)},
	} {
		if limit.value <= 0 {
			return fl.Invalid(limit.flag, limit.value, "must be > 0")
		}
	}
	switch {
	case (s.cert == "") != (s.key == ""):
		return fl.Invalid("-tls-cert and -tls-key", s.cert+" and "+s.key, "must be given together")
	case s.operatorCA != "" && s.cert == "":
		return fl.Invalid("-operator-ca", s.operatorCA, "needs -tls-cert and -tls-key")
	case s.operatorCA == "" && !loopback(s.operatorListen):
		return fl.Invalid("-operator-listen", s.operatorListen, "must be a loopback address, or -operator-ca must be given")
	case s.logFormat != "text" && s.logFormat != "json":
		return fl.Invalid("-log-format", s.logFormat, "must be text or json")
	}
	return nil
}

// loopback reports whether an address can be reached from this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

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
