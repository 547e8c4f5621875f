package shuffler

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hushgrad/hushgrad/server/internal/endpoint"
	"github.com/hushgrad/hushgrad/server/internal/guard"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/internal/model"
)

// Shuffler keeps the sealed reports of rounds and forwards them. It is safe for concurrent use.
type Shuffler struct {
	cfg           Config
	written       *keeper.Stopper // to cfg.Journal
	journal       *keeper.Prober  // to written
	vault         *vault
	lost          error // why there are no rounds of two servers: the vault is another one than the journal's. Nil if it is not
	upstream      *upstream
	model         relay
	clients, http *guard.Guard // of the listeners
	metrics       *metrics
	inFlight      atomic.Int64 // calls of all listeners

	adopting chan struct{} // held by the call that begins a round
	mu       sync.Mutex
	rounds   map[string]*round // that have not ended, by id

	background context.Context // ends with Close
	stop       context.CancelFunc
	stopped    sync.WaitGroup
}

// New returns a shuffler with the rounds that its journal has, and goes on with them: it asks the
// server about each of them once in a second and forwards those that are due. The error names a
// round that the journal has and the shuffler cannot read. Cost: reading all reports that are
// kept, which are counted.
func New(cfg Config) (*Shuffler, error) {
	s, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("shuffler: %w", err)
	}
	for _, r := range s.rounds {
		s.start(r)
	}
	return s, nil
}

func open(cfg Config) (*Shuffler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	bounds := endpoint.Bounds{
		MaxConnections: cfg.MaxConnections, MaxInFlightBytes: cfg.MaxInFlightBytes, MaxMessageBytes: cfg.MaxMessageBytes, ProgressTimeout: cfg.ProgressTimeout,
	}
	s := &Shuffler{
		cfg: cfg, upstream: newUpstream(cfg.Upstream, cfg.every), clients: guard.New(bounds.Public(decodingCost), cfg.Logger),
		http:     guard.New(bounds.Public(decodingCost), cfg.Logger),
		adopting: make(chan struct{}, 1), rounds: map[string]*round{},
	}
	s.written = keeper.NewStopper(cfg.Journal, cfg.Logger)
	s.journal = keeper.NewProber(s.written, probeKey, nil)
	s.model.upstream = s.upstream
	if s.vault, err = openVault(cfg.Secrets); err != nil {
		return nil, err
	}
	if err := s.checkVault(); err != nil {
		return nil, err
	}
	if err := s.restore(); err != nil {
		return nil, err
	}
	if s.model.Store, err = model.Open(model.Config{Journal: s.journal, Key: modelKey, MaxBytes: cfg.MaxModelBytes}); err != nil {
		return nil, err
	}
	if s.metrics, err = newMetrics(cfg.Metrics, now{s}); err != nil {
		return nil, err
	}
	s.background, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// start lets the shuffler watch a round.
func (s *Shuffler) start(r *round) { s.stopped.Go(func() { r.run(s.background) }) }

// Close ends the work in the background. No other call may be in progress. Rounds go on with the
// next shuffler on the same journal.
func (s *Shuffler) Close() {
	s.stop()
	s.stopped.Wait()
}

// Failed returns a channel that is closed after a write to the journal that may have failed: the
// shuffler then accepts and forwards nothing more. Its process should end and be started again.
func (s *Shuffler) Failed() <-chan struct{} { return s.written.Failed() }

// Ready returns nil while the shuffler can keep reports, and otherwise an error that says in words
// what is wrong. The health service of Serve follows it within a second. A server that does not
// answer is no reason: reports are kept until it does.
func (s *Shuffler) Ready() error {
	if err := s.journal.Room(); err != nil {
		return err
	}
	if s.cfg.Ready != nil {
		return s.cfg.Ready()
	}
	return nil
}
