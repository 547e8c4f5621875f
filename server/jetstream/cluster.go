package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// attempt bounds one request to the brokers: they answer sooner, or another one has to.
	attempt = time.Second
	// requestTime bounds what again waits for a request, and objectTime for one that moves an object.
	requestTime = 4 * attempt
	objectTime  = 30 * attempt
	// pause is between two tries.
	pause = 100 * time.Millisecond
	// complainEvery is between two lines of the log about brokers that are waited for.
	complainEvery = 10 * time.Second
)

// Cluster is a connection to the streams of a cluster. It is safe for concurrent use.
type Cluster struct {
	cfg       Config
	nc        *nats.Conn
	js        jetstream.JetStream
	lanes     []jetstream.Stream
	state     jetstream.Stream
	table     jetstream.KeyValue // leases and manifests
	snapshots jetstream.ObjectStore
	publisher *publisher
	written   atomic.Pointer[time.Time] // when the brokers took the last write of a lease
}

// Options are the options of a connection that finds another node soon when its own is gone. Add
// credentials and TLS to them.
func Options() []nats.Option {
	return []nats.Option{
		nats.Name("hushgrad"), nats.MaxReconnects(-1), nats.ReconnectWait(pause), nats.ReconnectJitter(pause, pause),
		nats.Timeout(attempt), nats.PingInterval(attempt), nats.MaxPingsOutstanding(2), nats.RetryOnFailedConnect(true),
		nats.ReconnectBufSize(-1), // a publication fails at once and is tried again by its caller
	}
}

// Connect finds the streams of a cluster, and makes those that are missing. It waits for brokers that
// are away until ctx ends, and logs why. The connection stays the caller's. The error is a
// *fl.ParamError (wrapped) for a cluster with other numbers of shards or lanes.
func Connect(ctx context.Context, nc *nats.Conn, cfg Config) (*Cluster, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	c := &Cluster{cfg: cfg, nc: nc}
	if c.js, err = jetstream.New(nc, jetstream.WithDefaultTimeout(attempt)); err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	complained := time.Now().Add(attempt - complainEvery) // what is there in a second is not worth a line
	err = again(ctx, func(ctx context.Context) error {
		err := c.setUp(ctx)
		if err != nil && !lasting(err) && time.Since(complained) >= complainEvery {
			complained = time.Now()
			c.cfg.Logger.Warn(c.waitsFor(), "error", err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	c.publisher = &publisher{Cluster: c, resting: make([]time.Time, len(c.lanes))}
	c.wrote()
	return c, nil
}

// silence is how long the brokers may take no write before a member is not ready. Members write at
// every beat.
const silence = 5 * time.Second

// wrote notes that the brokers have taken a write. The time is monotonic: a clock that is set changes nothing.
func (c *Cluster) wrote() {
	now := time.Now()
	c.written.Store(&now)
}

// Ready returns nil if the brokers take what this member writes, and otherwise an error that says in
// words what is wrong. It is for a process that is in Serve.
func (c *Cluster) Ready() error {
	switch {
	case !c.nc.IsConnected():
		return errNotConnected
	case time.Since(*c.written.Load()) > silence:
		return errNoMajority
	}
	return nil
}

// Why a member is not ready.
var (
	errNotConnected = errors.New("no connection to the brokers")
	errNoMajority   = fmt.Errorf("the brokers took no write in the last %v: a majority is needed, with room on its disks", silence)
)

// waitsFor says what has to come before the streams can be found or made.
func (c *Cluster) waitsFor() string {
	switch {
	case !c.nc.IsConnected():
		return "waiting for a connection to the brokers"
	case c.cfg.Shards == 0:
		return "waiting for the streams of the cluster: a majority of the brokers and a first member make them"
	}
	return "waiting for the streams of the cluster: a majority of the brokers makes them"
}

// again calls do until it succeeds, fails in a way that stays, or ctx ends.
func again(ctx context.Context, do func(context.Context) error) error {
	return againWithin(ctx, requestTime, do)
}

// againWithin is again. do gets a second, and each time twice as much up to a limit.
func againWithin(ctx context.Context, most time.Duration, do func(context.Context) error) error {
	for patience := attempt; ; patience = min(2*patience, most) {
		trying, cancel := context.WithTimeout(ctx, patience)
		err := do(trying)
		cancel()
		if err == nil || ctx.Err() != nil || lasting(err) {
			return err
		}
		if sleep(ctx, pause) != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// sleep waits for a time, or until ctx ends, which is its error.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lasting reports whether an error stays however often a request is made.
func lasting(err error) bool {
	_, wrong := errors.AsType[*fl.ParamError](err)
	return wrong || errors.Is(err, errFenced) || errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrConnectionClosed)
}

// errFenced is wrapped by errors of a member that has been replaced.
var errFenced = errors.New("another member has taken over")

// setUp makes what is missing.
func (c *Cluster) setUp(ctx context.Context) (err error) {
	if c.cfg.Shards == 0 {
		if err := c.adoptLayout(ctx); err != nil {
			return err
		}
	}
	c.lanes = nil
	for lane := range c.cfg.Lanes {
		s, err := c.stream(ctx, fmt.Sprintf("%s-reports-%d", c.cfg.Name, lane), fmt.Sprintf("%s.reports.%d.*", c.cfg.Name, lane))
		if err != nil {
			return err
		}
		c.lanes = append(c.lanes, s)
	}
	if c.state, err = c.stream(ctx, c.cfg.Name+"-state", c.stateSubject()); err != nil {
		return err
	}
	c.table, err = c.js.KeyValue(ctx, c.cfg.Name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c.table, err = c.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: c.cfg.Name, Description: "leases and manifests", Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas,
		})
	}
	if err != nil {
		return err
	}
	c.snapshots, err = c.js.ObjectStore(ctx, c.cfg.Name+"-snapshots")
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c.snapshots, err = c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: c.cfg.Name + "-snapshots", Description: "encrypted sums and ids", Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas,
		})
	}
	return err
}

// Keys of a stream's metadata.
const (
	shardsKey = "hushgrad-shards"
	lanesKey  = "hushgrad-lanes"
)

// adoptLayout takes the numbers of shards and lanes from the streams that are there.
func (c *Cluster) adoptLayout(ctx context.Context) error {
	s, err := c.js.Stream(ctx, c.cfg.Name+"-state")
	if err != nil {
		return fmt.Errorf("stream %s-state: %w", c.cfg.Name, err)
	}
	found := s.CachedInfo().Config.Metadata
	shards, err := strconv.Atoi(found[shardsKey])
	if err != nil || shards < 1 || shards > maxShards {
		return fl.Invalid(shardsKey, found[shardsKey], "must be a number in [1, %d]", maxShards)
	}
	lanes, err := strconv.Atoi(found[lanesKey])
	if err != nil || lanes < 1 || lanes > maxLanes {
		return fl.Invalid(lanesKey, found[lanesKey], "must be a number in [1, %d]", maxLanes)
	}
	c.cfg.Shards, c.cfg.Lanes = shards, lanes
	return nil
}

// stream returns a stream, which it makes if it is missing.
func (c *Cluster) stream(ctx context.Context, name, subject string) (jetstream.Stream, error) {
	s, err := c.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{subject}, Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas,
			// What does not fit is refused. Nothing is ever dropped by age or size.
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
			AllowDirect: true, // every node answers, and only with what a majority has
			Metadata:    map[string]string{shardsKey: strconv.Itoa(c.cfg.Shards), lanesKey: strconv.Itoa(c.cfg.Lanes)},
		})
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	return s, c.agree(s.CachedInfo().Config)
}

// agree checks the layout of a stream that exists.
func (c *Cluster) agree(found jetstream.StreamConfig) error {
	shards, err := strconv.Atoi(found.Metadata[shardsKey])
	if err != nil || shards < 1 || shards > maxShards {
		return fl.Invalid(shardsKey, found.Metadata[shardsKey], "must be a number in [1, %d]: stream %s is not one of a cluster of hushgrad", maxShards, found.Name)
	}
	if shards != c.cfg.Shards {
		return fl.Invalid("Shards", c.cfg.Shards, "must be %d, as the cluster %q was made", shards, c.cfg.Name)
	}
	if lanes := found.Metadata[lanesKey]; lanes != strconv.Itoa(c.cfg.Lanes) {
		return fl.Invalid("Lanes", c.cfg.Lanes, "must be %s, as the cluster %q was made", lanes, c.cfg.Name)
	}
	if found.Discard != jetstream.DiscardNew || !found.AllowDirect || found.MaxAge > 0 || found.Retention != jetstream.LimitsPolicy {
		return fl.Invalid("stream", found.Name, "must keep all messages, refuse new ones when it is full, and allow direct reads")
	}
	return nil
}

// Shards returns the number of shards.
func (c *Cluster) Shards() int { return c.cfg.Shards }

func (c *Cluster) stateSubject() string { return c.cfg.Name + ".state" }

// reportSubject returns the subject of a partition in a lane.
func (c *Cluster) reportSubject(lane, shard int) string {
	return fmt.Sprintf("%s.reports.%d.%d", c.cfg.Name, lane, shard)
}
