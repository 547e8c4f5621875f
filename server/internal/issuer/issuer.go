package issuer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/hushgrad/hushgrad/server/internal/keeper"
)

// Errors that are wrapped by this package's errors.
var (
	// ErrNoKey: there is no such key, or it has expired or was dropped.
	ErrNoKey = errors.New("no such key")
	// ErrOtherExpiry: the round has a key that expires at another time.
	ErrOtherExpiry = errors.New("the round has a key that expires at another time")
	// ErrIssued: the client has had another message signed under this key.
	ErrIssued = errors.New("the client has had its token for this round, and a report with it may count already")
	// ErrBusy: too many calls are in progress, or another one of the same client.
	ErrBusy = errors.New("busy")
	// ErrLimit: there are too many keys.
	ErrLimit = errors.New("limit reached")
)

// Issuer signs one blinded message for each client and key. It is safe for concurrent use.
type Issuer struct {
	cfg      Config
	journal  *keeper.Stopper // to cfg.Journal
	spare    spare
	metrics  *metrics
	inFlight atomic.Int64 // calls of all listeners

	creating chan struct{} // held by the call that makes a key
	signing  *semaphore.Weighted

	mu    sync.Mutex
	keys  map[string]*key // by round id
	calls map[owner]bool  // in progress

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// New returns an issuer with the keys in the journal. Close ends what it does in the background:
// it deletes keys that have expired, and makes the next key ahead of time.
func New(cfg Config) (*Issuer, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	i := &Issuer{
		cfg: cfg, journal: keeper.NewStopper(cfg.Journal, cfg.Logger), spare: newSpare(), creating: make(chan struct{}, 1),
		signing: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
		keys:    map[string]*key{}, calls: map[owner]bool{},
	}
	if err := i.restore(); err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	if i.metrics, err = newMetrics(cfg.Metrics, func() int { return len(i.Keys()) }); err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	i.stop = stop
	i.stopped.Go(func() { i.spare.fill(ctx, cfg.NewKey) })
	i.stopped.Go(func() { i.expire(ctx) })
	return i, nil
}

// Close ends the work in the background. No other call may be in progress.
func (i *Issuer) Close() {
	i.stop()
	i.stopped.Wait()
}

// Failed returns a channel that is closed when the issuer refuses everything with journal.ErrFailed.
// Its process should then end and be started again.
func (i *Issuer) Failed() <-chan struct{} { return i.journal.Failed() }

// Ready returns nil while the issuer can give tokens, and otherwise an error that says in words
// what is wrong. The health service of Serve follows it within a second.
func (i *Issuer) Ready() error {
	if err := i.journal.Room(); err != nil || i.cfg.Ready == nil {
		return err
	}
	return i.cfg.Ready()
}

// expire deletes keys that have expired, once in a minute.
func (i *Issuer) expire(ctx context.Context) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			i.Keys()
		case <-ctx.Done():
			return
		}
	}
}
