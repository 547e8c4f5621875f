package server

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/internal/translog/site"
	"github.com/hushgrad/hushgrad/server/internal/endpoint"
	"github.com/hushgrad/hushgrad/server/internal/gateway"
	"github.com/hushgrad/hushgrad/server/internal/guard"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/internal/model"
	"github.com/hushgrad/hushgrad/server/internal/releases"
	"github.com/hushgrad/hushgrad/server/seal"
)

// Server is a parameter server. It is safe for concurrent use.
type Server struct {
	cfg     Config
	journal *keeper.Prober
	rounds  *store
	model   *models
	tasks   tasks
	metrics *metrics
	scalars scalars
	started time.Time
	// completing holds a value while a round is being completed, and ending while one has its estimate in
	// memory: one at a time.
	completing, ending chan struct{}
	releases           *releases.Notes
	// opening is held while a round is opened, and alone while keys are removed. recovered says that all open rounds are known.
	opening    sync.RWMutex
	recovered  atomic.Bool
	newest     seal.Fingerprint // of the key of new rounds when keys were swept last; guarded by opening
	log        *logbook         // nil for none
	publishing sync.Mutex       // one model at a time becomes the current one and is logged
	calls      atomic.Int64     // in flight

	clients, operator, shuffler, http *guard.Guard // of the listeners
}

// New returns a server with the rounds and the model that its journal has. Rounds that were
// open go on. It reads what they have counted since their last snapshots, which takes about a
// second for a million reports. The error names a round that the journal has and the server
// cannot read.
func New(cfg Config) (*Server, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	var s *Server
	kept := keeper.NewProber(cfg.Journal, "server/probe", func(start time.Time, err error) { s.metrics.committed(start, err) })
	bounds := endpoint.Bounds{
		MaxConnections: cfg.MaxConnections, MaxInFlightBytes: cfg.MaxInFlightBytes, MaxMessageBytes: cfg.MaxMessageBytes, ProgressTimeout: cfg.ProgressTimeout,
	}
	s = &Server{
		cfg:     cfg,
		journal: kept,
		rounds:  &store{journal: kept, maxOpen: cfg.MaxOpenRounds, keep: cfg.KeepRounds, rounds: map[string]*round{}},
		model:   &models{},
		tasks:   tasks{stopping: make(chan struct{})},
		started: time.Now(),

		completing: make(chan struct{}, 1),
		ending:     make(chan struct{}, 1),

		clients:  guard.New(bounds.Public(decodingCost), cfg.Logger),
		operator: guard.New(bounds.Operated(decodingCost), cfg.Logger),
		shuffler: guard.New(bounds.Operated(openingCost), cfg.Logger),
		http:     guard.New(bounds.Public(decodingCost), cfg.Logger),
	}
	if s.metrics, err = newMetrics(cfg.Metrics, now{s}); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.releases, err = releases.Open(cfg.Releases)
	if err == nil {
		s.log, err = cfg.Log.open(kept)
	}
	if err == nil {
		err = s.recover()
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("server: recover: %w", err)
	}
	s.recovered.Store(true)
	return s, nil
}

// Close ends what the server does outside of calls, and waits for it. The journal is not used
// afterwards, unless by calls in progress. Serve calls it. Rounds stay open in the journal.
func (s *Server) Close() { s.tasks.stop() }

// RegisterRounds adds the clients' service to a gRPC server.
func (s *Server) RegisterRounds(r grpc.ServiceRegistrar) {
	service.RegisterRounds(r, roundsService{Server: s})
}

// RegisterOperator adds the operator's service to a gRPC server. A party that can
// reach it decides what clients are asked.
func (s *Server) RegisterOperator(r grpc.ServiceRegistrar) {
	service.RegisterOperatorServer(r, operatorService{Server: s})
}

// RegisterShuffled adds the shuffler's service to a gRPC server. A party that can reach it
// decides which reports count in rounds with a shuffler. The shuffler needs the clients'
// service, too.
func (s *Server) RegisterShuffled(r grpc.ServiceRegistrar) {
	service.RegisterShuffledServer(r, shuffledService{Server: s})
}

// Listeners are where Serve answers. It closes them.
type Listeners struct {
	// Clients is required.
	Clients net.Listener
	// Operator is the operator's own listener. When nil, the operator's service
	// is offered on Clients: only for tests and for one machine.
	Operator net.Listener
	// Shuffler is the shuffler's own listener, with the clients' service, too. When nil, no
	// shuffler is served, unless Operator is nil: then the shuffler's service is offered on
	// Clients.
	Shuffler net.Listener
	// HTTP is where the clients' service, and no other, is offered over HTTP/1.1 and h2, too: to
	// browsers and curl. Below /log/ it has the files of Config.Log. When nil, it is not.
	HTTP net.Listener
}

// Serve answers calls, with health checks, until ctx ends. Then
// it lets calls in progress finish for Config.ShutdownTimeout and returns nil.
// When the journal has failed, as on a disk that has become read-only, it returns an error
// that wraps journal.ErrFailed: nothing can be kept until the journal is opened anew.
func (s *Server) Serve(ctx context.Context, l Listeners) error {
	group, ctx := errgroup.WithContext(ctx)
	guarded := s.clients
	if l.Operator == nil {
		guarded = s.operator // whose calls may take long
	}
	clients := endpoint.New(s.endpoint("clients", guarded, s.cfg.Credentials))
	s.RegisterRounds(clients)
	if l.Operator == nil {
		s.RegisterOperator(clients)
		if l.Shuffler == nil {
			s.RegisterShuffled(clients)
		}
	} else {
		operator := endpoint.New(s.endpoint("operator", s.operator, s.cfg.OperatorCredentials))
		s.RegisterOperator(operator)
		group.Go(func() error { return operator.Serve(ctx, l.Operator) })
	}
	if l.Shuffler != nil {
		shuffler := endpoint.New(s.endpoint("shuffler", s.shuffler, s.cfg.ShufflerCredentials))
		s.RegisterShuffled(shuffler)
		s.RegisterRounds(shuffler)
		group.Go(func() error { return shuffler.Serve(ctx, l.Shuffler) })
	}
	if l.HTTP != nil {
		http, err := s.gateway()
		if err != nil {
			return fmt.Errorf("server: %w", err)
		}
		group.Go(func() error { return http.Serve(ctx, l.HTTP) })
	}
	group.Go(func() error { return clients.Serve(ctx, l.Clients) })
	group.Go(func() error { return s.sweepLater(ctx) })
	group.Go(func() error { return s.journal.Await(ctx) })
	group.Go(func() error { // in the group, so that Serve does not return before it
		<-ctx.Done()
		s.stopping()
		return nil
	})
	defer s.Close()
	if err := group.Wait(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// stopping ends the calls that wait for a round, and logs what the others are in the midst of.
func (s *Server) stopping() {
	s.tasks.refuse()
	open, reports := 0, int64(0)
	for _, r := range s.rounds.all() {
		if h := r.head(); h.state == service.RoundState_ROUND_STATE_OPEN {
			open++
			reports += h.reports
		}
	}
	s.cfg.Logger.Info("stopping", "calls_in_flight", s.calls.Load(), "open_rounds", open, "reports_in_them", reports, "timeout", s.cfg.ShutdownTimeout)
}

// endpoint returns the settings of the gRPC server of a listener.
func (s *Server) endpoint(name string, g *guard.Guard, creds credentials.TransportCredentials) endpoint.Config {
	return endpoint.Config{
		Name: name, Guard: g, Codec: model.NewCodec(), Logger: s.cfg.Logger, Ready: s.Ready, StopTimeout: s.cfg.ShutdownTimeout,
		Credentials: creds, Reflection: s.cfg.Reflection, StatsHandler: s.cfg.StatsHandler, Calls: &s.calls,
	}
}

// gateway returns what answers clients over HTTP.
func (s *Server) gateway() (*gateway.Gateway, error) {
	config := gateway.Config{
		Endpoint: s.endpoint("http", s.http, nil), Register: s.RegisterRounds, Service: service.Rounds_ServiceDesc.ServiceName,
		MessageBytes: s.cfg.MaxMessageBytes, Security: s.cfg.HTTPSecurity, Origins: s.cfg.HTTPOrigins, OHTTPKeys: s.cfg.OHTTPKeys,
	}
	if s.log != nil {
		config.Log = site.Handler(s.log.Log)
	}
	return gateway.New(config)
}

// Ready returns nil while the server can count reports, and otherwise an error that says in
// words what is wrong. The health service of Serve follows it within a second.
func (s *Server) Ready() error {
	select {
	case <-s.tasks.stopping:
		return errStopping
	default:
	}
	if err := s.journal.Room(); err != nil {
		return err
	}
	if s.cfg.Ready != nil {
		return s.cfg.Ready()
	}
	return nil
}
