package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/tlsfile"
	"github.com/hushgrad/hushgrad/server"
	"google.golang.org/grpc/credentials"
)

const serveUsage = `Usage: hushgrad serve [flags]

Runs the gRPC parameter server until it is interrupted. Rounds, reports, estimates
and the model are kept in the directory of -data: a server that is stopped or killed
goes on where it was when it is started again. Clients and the operator have listeners of
their own. A party that reaches the operator's listener decides what clients are asked.

`

// serveFlags are the flags of the serve command.
type serveFlags struct {
	daemon
	config server.Config
}

func serve(ctx context.Context, args []string, std command.Streams) (err error) {
	s, err := parseServe(args, std.Err)
	if err != nil {
		return err
	}
	logger := s.logging.logger(std.Err)
	s.config.Logger = logger
	own, err := s.listening.certificate(logger)
	if err != nil {
		return err
	}
	if s.config.Credentials, s.config.OperatorCredentials, err = s.credentials(own); err != nil {
		return err
	}
	s.config.Ready = func() error { return own.CheckValid(time.Now()) }
	traces, err := newTracing(ctx, logger)
	if err != nil {
		return err
	}
	defer traces.stop(logger)
	s.config.StatsHandler = traces.handler()
	figures := s.monitoring.registry()
	s.config.Metrics = figures
	kept, err := s.state.open(logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	s.config.Journal = kept
	srv, err := server.New(s.config)
	if err != nil {
		return err
	}
	monitor, err := s.monitoring.listen(figures, srv.Ready, own, logger)
	if err != nil {
		return err
	}
	defer monitor.close()
	var l server.Listeners
	if l.Clients, l.Operator, err = s.open(); err != nil {
		return err
	}
	go monitor.serve()
	logger.Info("this server sees which connection a report comes from: against whoever runs it, only the local ε of a round holds")
	return srv.Serve(ctx, l)
}

func parseServe(args []string, stderr io.Writer) (*serveFlags, error) {
	s := &serveFlags{}
	f := newFlags("serve", serveUsage, stderr)
	s.daemon.bind(f, "serve", 7117, 7118)
	f.BoolVar(&s.listening.insecure, "insecure", false, "answer clients without TLS on addresses that other machines reach: whoever is on the way reads and changes everything")
	f.IntVar(&s.config.MaxDim, "max-dim", fl.DefaultMaxDim, "most coordinates of a round")
	f.IntVar(&s.config.MaxMessageBytes, "max-message-bytes", 4<<20, "largest gRPC message accepted")
	f.Int64Var(&s.config.MaxModelBytes, "max-model-bytes", 1<<30, "largest model accepted")
	f.IntVar(&s.config.MaxOpenRounds, "max-open-rounds", 16, "rounds open at the same time")
	f.IntVar(&s.config.KeepRounds, "keep-rounds", 16, "closed rounds whose estimates are kept")
	f.IntVar(&s.config.MaxConnections, "max-connections", 1024, "connections at the same time, on each listener; one more closes an old one")
	f.Int64Var(&s.config.MaxInFlightBytes, "max-in-flight-bytes", 256<<20, "memory for messages on their way in, on each listener; at least 8 times -max-message-bytes")
	f.DurationVar(&s.config.ProgressTimeout, "progress-timeout", 30*time.Second, "how long a call waits for its peer to send or take a message")
	f.DurationVar(&s.config.ShutdownTimeout, "shutdown-timeout", 2*time.Second, "how long to wait for calls in progress")
	f.BoolVar(&s.config.Reflection, "reflection", false, "describe the services to whoever asks, for tools such as grpcurl")
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
		{"-max-connections", int64(s.config.MaxConnections)}, {"-max-in-flight-bytes", s.config.MaxInFlightBytes},
		{"-progress-timeout", int64(s.config.ProgressTimeout)}, {"-shutdown-timeout", int64(s.config.ShutdownTimeout)},
		{"-max-dim", int64(s.config.MaxDim)},
	} {
		if limit.value <= 0 {
			return fl.Invalid(limit.flag, limit.value, "must be > 0")
		}
	}
	return s.daemon.validate()
}

// credentials returns the transport security of the two listeners, nil for none.
func (s *serveFlags) credentials(own *tlsfile.Certificate) (clients, operator credentials.TransportCredentials, err error) {
	if own == nil {
		return nil, nil, nil
	}
	clients = credentials.NewTLS(own.Config())
	if s.operators.ca == "" {
		return clients, clients, nil
	}
	config, err := s.operators.config(own, s.config.Logger)
	if err != nil {
		return nil, nil, err
	}
	return clients, credentials.NewTLS(config), nil
}
