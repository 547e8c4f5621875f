package main

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/credentials"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/tlsfile"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/jetstream"
)

const serveHelp = `Runs the gRPC parameter server until it is interrupted. Rounds, reports, estimates
and the model are kept in the directory of --data: a server that is stopped or killed
goes on where it was when it is started again. Clients and the operator have listeners of
their own. A party that reaches the operator's listener decides what clients are asked.
With --shuffler-listen there can be rounds with a shuffler, which brings sealed reports. A
party that reaches that listener decides which of them count.
`

// serveFlags are the flags of the serve command.
type serveFlags struct {
	operated
	shuffler  shufflerFlags
	http      httpFlags
	dashboard dashboardFlags
	logged    loggedFlags
	cluster   clusterFlags
	config    server.Config
}

// newServe returns the command that runs the server, with the commands about its keys.
func newServe() *cobra.Command {
	c := newJob("serve [flags]", "run the gRPC parameter server", serveHelp, &serveFlags{})
	keys := newKeyList(firstServer)
	keys.AddCommand(newKeyRotate())
	c.AddCommand(newKey(firstServer), keys)
	return c
}

func (s *serveFlags) run(ctx context.Context, std command.Streams) (err error) {
	logger := s.logging.logger(std.Err)
	limitMemory(logger)
	s.config.Logger = logger
	own, err := s.listening.certificate(logger)
	if err != nil {
		return err
	}
	if err := s.secure(own); err != nil {
		return err
	}
	s.config.Ready = func() error { return own.CheckValid(time.Now()) }
	traces, err := newTracing(ctx, "serve", logger)
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
	if s.config.Seal, err = s.shuffler.keys(s.state.dir, logger); err != nil {
		return err
	}
	if s.config.Log, err = s.logged.config(); err != nil {
		return err
	}
	if s.shuffler.listen != "" {
		s.config.Releases = s.state.beside(s.shuffler.releases, "releases")
	}
	if s.cluster.urls != "" {
		return s.serveMember(ctx, own, figures)
	}
	srv, err := server.New(s.config)
	if err != nil {
		return s.ofFlag(s.shuffler.explain(err))
	}
	monitor, err := s.monitoring.listen(figures, srv.Ready, own, logger)
	if err != nil {
		return err
	}
	defer monitor.close()
	shown, err := s.dashboard.listen(own, logger)
	if err != nil {
		return err
	}
	defer s.dashboard.serve(ctx, shown, func() (*server.Server, error) { return srv, nil }, logger)()
	l, err := s.open()
	if err != nil {
		return err
	}
	go monitor.serve()
	logger.Info(s.shuffler.whatHolds())
	return srv.Serve(ctx, l)
}

func (s *serveFlags) bind(f *flag.FlagSet) {
	s.operated.bind(f, "serve", 7117, 7118)
	f.BoolVar(&s.listening.insecure, "insecure", false, "answer clients without TLS on addresses that other machines reach: whoever is on the way reads and changes everything")
	f.BoolVar(&s.config.Reflection, "reflection", false, "describe the services to whoever asks, for tools such as grpcurl")
	command.Topic(f, "A shuffler", s.shuffler.bind)
	command.Topic(f, "HTTP", s.http.bind)
	command.Topic(f, "A log for outsiders", s.logged.bind)
	command.Topic(f, "A cluster", s.cluster.bind)
	command.Topic(f, "Watching", s.dashboard.bind)
	command.Topic(f, "Limits", func(f *flag.FlagSet) {
		bindLimits(f, &s.config.Limits)
		f.IntVar(&s.config.MaxOpenRounds, "max-open-rounds", 16, "rounds open at the same time")
		f.IntVar(&s.config.KeepRounds, "keep-rounds", 16, "closed rounds whose estimates are kept")
	})
}

func (s *serveFlags) validate(*flag.FlagSet) error {
	bounds := append(limitsOf(s.config.Limits),
		limit{"--max-open-rounds", int64(s.config.MaxOpenRounds)}, limit{"--keep-rounds", int64(s.config.KeepRounds)})
	return cmp.Or(positive(bounds...), s.shuffler.validate(s.listening, s.state), s.http.validate(s.listening),
		s.dashboard.validate(), s.logged.validate(s.cluster), s.cluster.validate(s.shuffler), s.operated.validate())
}

// serveMember is run as a member of a cluster. The listeners are open while this member leads.
func (s *serveFlags) serveMember(ctx context.Context, own *tlsfile.Certificate, figures *prometheus.Registry) error {
	logger := s.config.Logger
	var met atomic.Pointer[jetstream.Cluster] // nil while the member waits for brokers
	ready := func() error {
		cluster := met.Load()
		if cluster == nil {
			return errNotMet
		}
		if err := cluster.Ready(); err != nil {
			return err
		}
		return own.CheckValid(time.Now())
	}
	monitor, err := s.monitoring.listen(figures, ready, own, logger)
	if err != nil {
		return err
	}
	defer monitor.close()
	go monitor.serve()
	cluster, leave, err := s.cluster.meet(ctx, logger)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer leave()
	met.Store(cluster)
	shown, err := s.dashboard.listen(own, logger)
	if err != nil {
		return err
	}
	var now leading
	defer s.dashboard.serve(ctx, shown, now.get, logger)()
	logger.Info(s.shuffler.whatHolds())
	return cluster.Serve(ctx, jetstream.Member{
		Shard: s.cluster.own, Journal: s.config.Journal, Seal: s.config.Seal, Server: s.config, Listen: s.open, Led: now.Store,
	})
}

// secure fills in the transport security of the listeners, none without a certificate.
func (s *serveFlags) secure(own *tlsfile.Certificate) (err error) {
	s.config.HTTPSecurity, s.config.HTTPOrigins = s.http.security(own), s.http.origins
	if s.config.OHTTPKeys, err = s.http.gatewayKeys(); err != nil {
		return err
	}
	if own == nil {
		return nil
	}
	s.config.Credentials = credentials.NewTLS(own.Config())
	if s.config.OperatorCredentials, err = s.operators.credentials(own, s.config.Logger); err != nil {
		return err
	}
	s.config.ShufflerCredentials, err = s.shuffler.callers.credentials(own, s.config.Logger)
	return err
}

// open opens the listeners.
func (s *serveFlags) open() (l server.Listeners, err error) {
	err = s.operated.open(&l.Clients, &l.Operator,
		wanted{&l.HTTP, "--http", s.http.address}, wanted{&l.Shuffler, "--shuffler-listen", s.shuffler.listen})
	return l, err
}
