package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/jetstream"
	"github.com/hushgrad/hushgrad/server/seal"
	"github.com/hushgrad/hushgrad/server/shuffler"
)

const shuffleHelp = `Runs the shuffler until it is interrupted: the party between clients and hushgrad serve that
hides who sent what. It sees who takes part, and no report: reports are sealed to the server.
It keeps them until there are enough, forwards them once in a random order, and deletes them.
Whoever runs both learns who sent what. So run it apart from hushgrad serve.
In rounds of a mechanism for two servers it is the second server: it opens the second shares, adds
them and the whole noise, and releases one sum.
`

// shuffleFlags are the flags of the shuffle command.
type shuffleFlags struct {
	daemon
	upstream remote
	http     httpFlags
	brokers  brokers
	secrets  string
	seals    sealFlags
	config   shuffler.Config
}

// newShuffle returns the command that runs the shuffler, with the commands about its keys.
func newShuffle() *cobra.Command {
	c := newJob("shuffle --name NAME --upstream ADDRESS [flags]", "run the shuffler: hide from the server who sent what", shuffleHelp, &shuffleFlags{})
	c.AddCommand(newKey(secondServer), newKeyList(secondServer))
	return c
}

func (s *shuffleFlags) bind(f *flag.FlagSet) {
	f.StringVar(&s.config.Name, "name", "", "`name` of this shuffler: a DNS name. Rounds that name another one are refused")
	s.daemon.bind(f, "shuffle", 7124)
	f.BoolVar(&s.listening.insecure, "insecure", false, "answer clients without TLS on addresses that other machines reach: whoever is on the way sees who sends what, sealed")
	f.StringVar(&s.secrets, "secrets", "", "`directory` for the secrets of rounds, which are destroyed with them: no backup should have it; empty: the directory of --data with --secrets behind its name")
	f.IntVar(&s.config.Floor, "floor", shuffler.DefaultFloor, "fewest sealed reports that are forwarded, whatever min_reports of a round says")
	command.Topic(f, "Mechanisms for two servers", func(f *flag.FlagSet) {
		s.seals.bind(f, "second shares")
		s.seals.bindSuite(f, "of the first key")
	})
	command.Topic(f, "HTTP", s.http.bind)
	command.Topic(f, "The server", func(f *flag.FlagSet) {
		s.upstream.bindParty(f, "upstream", "upstream-", "hushgrad serve", "its listener for the shuffler")
		f.IntVar(&s.config.ForwardBytes, "forward-bytes", 1<<20, "sealed reports in one message to the server, in bytes: less than its --max-message-bytes")
	})
	command.Topic(f, "A cluster", func(f *flag.FlagSet) {
		s.brokers.bind(f, "sealed reports go there in place of --upstream; empty: they go to --upstream")
	})
	command.Topic(f, "Limits", func(f *flag.FlagSet) {
		bindLimits(f, &s.config.Limits)
		f.IntVar(&s.config.MaxRounds, "max-rounds", 16, "rounds at the same time whose reports are kept")
		f.IntVar(&s.config.MaxReports, "max-reports", shuffler.DefaultMaxReports, "sealed reports that are kept for a round without tokens; tokens bound the reports of other rounds")
	})
}

func (s *shuffleFlags) validate(*flag.FlagSet) error {
	if err := positive(append(limitsOf(s.config.Limits), limit{"--floor", int64(s.config.Floor)},
		limit{"--max-rounds", int64(s.config.MaxRounds)}, limit{"--max-reports", int64(s.config.MaxReports)}, limit{"--forward-bytes", int64(s.config.ForwardBytes)})...); err != nil {
		return err
	}
	switch {
	case s.config.Name == "":
		return fl.Invalid("--name", "", "is required: the name by which rounds and clients know this shuffler")
	case s.upstream.server == "":
		return fl.Invalid("--upstream", "", "is required: the address that hushgrad serve --shuffler-listen has")
	case s.secrets != "" && s.state.dir == noData:
		return fl.Invalid("--secrets", s.secrets, "needs a directory of --data: without one the secrets are in memory, too")
	}
	if s.seals.dir == "" && s.seals.suite != seal.X25519 && s.state.dir == noData {
		return fl.Invalid("--seal-suite", string(s.seals.suite), "needs --seal-keys with --data none: there is no directory for a key")
	}
	return cmp.Or(s.upstream.validate(), s.http.validate(s.listening), s.brokers.validate(), s.daemon.validate())
}

// run runs the shuffler.
func (s *shuffleFlags) run(ctx context.Context, std command.Streams) (err error) {
	logger := s.logging.logger(std.Err)
	limitMemory(logger)
	s.config.Logger = logger
	own, err := s.listening.certificate(logger)
	if err != nil {
		return err
	}
	if own != nil {
		s.config.Credentials = credentials.NewTLS(own.Config())
	}
	s.config.HTTPSecurity, s.config.HTTPOrigins = s.http.security(own), s.http.origins
	if s.config.OHTTPKeys, err = s.http.gatewayKeys(); err != nil {
		return err
	}
	s.config.Ready = func() error { return own.CheckValid(time.Now()) }
	traces, err := newTracing(ctx, "shuffle", logger)
	if err != nil {
		return err
	}
	defer traces.stop(logger)
	s.config.StatsHandler = traces.handler()
	conn, err := s.dial(logger, traces.upstream()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	s.config.Upstream = conn
	if s.brokers.urls != "" {
		nc, err := s.brokers.connect(logger)
		if err != nil {
			return err
		}
		defer nc.Close()
		cluster, err := jetstream.Connect(ctx, nc, jetstream.Config{Name: s.brokers.name, Logger: logger})
		if err != nil {
			return unlessStopped(ctx, fmt.Errorf("--nats: %w", err))
		}
		s.config.Upstream = cluster.Upstream(conn)
	}
	figures := s.monitoring.registry()
	s.config.Metrics = figures
	kept, err := s.state.open(logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	s.config.Journal, s.config.Secrets = kept, s.state.beside(s.secrets, "secrets")
	if s.config.Keys, err = s.keys(logger); err != nil {
		return err
	}
	sh, err := shuffler.New(s.config)
	if err != nil {
		return s.ofFlag(err)
	}
	defer sh.Close()
	monitor, err := s.monitoring.listen(figures, sh.Ready, own, logger)
	if err != nil {
		return err
	}
	defer monitor.close()
	var l shuffler.Listeners
	if l.Clients, err = s.open(); err != nil {
		return err
	}
	if l.HTTP, err = s.http.listen(); err != nil {
		return errors.Join(err, l.Clients.Close())
	}
	go monitor.serve()
	logger.Info("this shuffler sees who takes part in which round and when, and no report. "+
		"The server does not learn who sent what, if the two do not work together and the reports of a round come from different clients", "name", s.config.Name, "floor", s.config.Floor)
	return sh.Serve(ctx, l)
}

// keys opens the keys for second shares and says which one is the newest. Without a directory there are none.
func (s *shuffleFlags) keys(logger *slog.Logger) (*seal.Keys, error) {
	if s.seals.dir == "" && s.state.dir == noData {
		return nil, nil
	}
	return s.seals.open(s.state.dir, "second shares of new rounds may be sealed to the active key", logger)
}

// dial returns the connection to the server.
func (s *shuffleFlags) dial(logger *slog.Logger, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	return s.upstream.follow(logger, append(options,
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 20 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(s.config.MaxMessageBytes)))...)
}
