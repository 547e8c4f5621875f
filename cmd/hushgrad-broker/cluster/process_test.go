package cluster_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hushgrad/hushgrad/cmd/hushgrad-broker/broker"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/jetstream"
	"github.com/hushgrad/hushgrad/server/journal/disk"
	"github.com/hushgrad/hushgrad/server/seal"
)

// These variables make the test binary a process of a cluster.
const (
	roleEnv    = "HUSHGRAD_TEST_ROLE" // node or member
	dirEnv     = "HUSHGRAD_TEST_DIR"
	brokersEnv = "HUSHGRAD_TEST_BROKERS"
	addressEnv = "HUSHGRAD_TEST_ADDRESS" // of the leader, whoever it is
	shardEnv   = "HUSHGRAD_TEST_SHARD"
	keysEnv    = "HUSHGRAD_TEST_KEYS" // a directory
)

func TestMain(m *testing.M) {
	role := map[string]func(context.Context, string) error{"node": nodeRole, "member": memberRole}[os.Getenv(roleEnv)]
	if role == nil {
		_ = flag.Set("test.parallel", "8") // parallel tests wait. A value on the command line is read later
		os.Exit(runTests(m))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := role(ctx, os.Getenv(dirEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// nodeRole is a node of the brokers.
func nodeRole(ctx context.Context, dir string) error {
	node, err := broker.Start(broker.Config{File: filepath.Join(dir, "nats.conf"), Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	<-ctx.Done()
	node.Close()
	return nil
}

// memberRole is a member that logs to standard error.
func memberRole(ctx context.Context, dir string) error {
	var shard, shards int
	if _, err := fmt.Sscanf(os.Getenv(shardEnv), "%d/%d", &shard, &shards); err != nil {
		return err
	}
	kept, err := disk.Open(filepath.Join(dir, "journal"), disk.Options{MinFree: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer kept.Close()
	keys, err := seal.OpenKeys(os.Getenv(keysEnv), seal.X25519)
	if err != nil {
		return err
	}
	nc, err := nats.Connect(os.Getenv(brokersEnv), jetstream.Options()...)
	if err != nil {
		return err
	}
	defer nc.Close()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	c, err := jetstream.Connect(ctx, nc, jetstream.Config{Shards: shards, Logger: logger})
	if err != nil {
		return err
	}
	return c.Serve(ctx, jetstream.Member{
		Shard: shard, Journal: kept, Seal: keys, Server: server.Config{Logger: logger},
		Listen: func() (l server.Listeners, err error) {
			l.Clients, err = net.Listen("tcp", os.Getenv(addressEnv))
			return l, err
		},
	})
}

// process is one process of a cluster.
type process struct {
	t     *testing.T
	name  string
	disk  string // has all that it keeps
	env   []string
	lines func(string) // told of every line on standard error
	cmd   *exec.Cmd
	read  sync.WaitGroup
}

// start starts the process, for the first time or again.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), p.env...)
	out, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.read.Go(func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.lines(lines.Text())
		}
		_, _ = io.Copy(io.Discard, out)
	})
}

// kill ends the process by SIGKILL, and its power.
func (p *process) kill() {
	outage.During(p.t, p.disk, func() {
		_ = p.cmd.Process.Kill()
		p.read.Wait()
		_ = p.cmd.Wait() // it says that it was killed
	})
}

// farm is a cluster of three nodes and some members, each in a process of its own.
type farm struct {
	nodes, members []*process
	brokers        string
	address        string
	keys           *seal.Keys

	mu    sync.Mutex
	taken map[string]taking // the last one of each shard
	log   strings.Builder
}

// taking is that a member took a shard.
type taking struct {
	by string
	at time.Time
}

// nextPort is below the ports that systems give to whoever asks for any, so that no other test is given
// the port of an address that is free until somebody listens.
var nextPort atomic.Uint32

func init() { nextPort.Store(20_000 + rand.Uint32N(10_000)) }

func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nextPort.Add(1)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// freeAddresses returns addresses at which nobody listens.
func freeAddresses(t *testing.T, n int) (addresses []string) {
	t.Helper()
	for range n {
		addresses = append(addresses, freeAddress(t))
	}
	return addresses
}

func startFarm(t *testing.T, shards int) *farm {
	t.Helper()
	shared := filepath.Join(t.TempDir(), "keys")
	keys, err := seal.OpenKeys(shared, seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	addresses := freeAddresses(t, 7)
	f := &farm{address: addresses[6], keys: keys, taken: map[string]taking{}}
	f.brokers = "nats://" + strings.Join(addresses[:3], ",nats://")
	for i := range 3 {
		home := outage.Disk(t, fmt.Sprint("node", i))
		outage.Tell(t, "order", home) // NATS syncs files, and no directory
		conf := fmt.Sprintf("server_name: node%d\nlisten: %q\njetstream { store_dir: %q, sync_interval: always }\n"+
			"cluster { name: farm, listen: %q, routes: [ %s ] }\n", i, addresses[i], home, addresses[3+i],
			`"nats://`+strings.Join(addresses[3:6], `", "nats://`)+`"`)
		if err := durable.WriteFile(filepath.Join(home, "nats.conf"), []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		f.nodes = append(f.nodes, f.process(t, fmt.Sprint("node ", i), home, roleEnv+"=node"))
	}
	for i := range shards {
		home := outage.Disk(t, fmt.Sprint("member", i))
		f.members = append(f.members, f.process(t, fmt.Sprint("member ", i), home, roleEnv+"=member", keysEnv+"="+shared,
			brokersEnv+"="+f.brokers, addressEnv+"="+f.address, fmt.Sprintf("%s=%d/%d", shardEnv, i, shards)))
	}
	return f
}

func (f *farm) process(t *testing.T, name, disk string, env ...string) *process {
	p := &process{t: t, name: name, disk: disk, env: append(env, dirEnv+"="+disk)}
	p.lines = func(line string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		fmt.Fprintf(&f.log, "%s: %s\n", name, line)
		if _, rest, ok := strings.Cut(line, `msg="shard taken" shard=`); ok {
			shard, _, _ := strings.Cut(rest, " ")
			f.taken[shard] = taking{name, time.Now()}
		}
	}
	p.start()
	t.Cleanup(p.kill)
	return p
}

// logger adds what the test's own connection says to what the processes say.
func (f *farm) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(writer(func(line []byte) {
		f.mu.Lock()
		defer f.mu.Unlock()
		fmt.Fprintf(&f.log, "test: %s", line)
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }

// takenSince returns how long after a moment a shard was taken, if it was.
func (f *farm) takenSince(shard int, moment time.Time) (time.Duration, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.taken[fmt.Sprint(shard)].at
	return at.Sub(moment), at.After(moment)
}

// home reports whether every shard is counted by its own member.
func (f *farm) home() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, m := range f.members {
		if f.taken[fmt.Sprint(i)].by != m.name {
			return false
		}
	}
	return true
}

// eventually is eventually, and shows what the processes said if it fails.
func (f *farm) eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	failed := true
	defer func() {
		if failed {
			t.Log(f.logged())
		}
	}()
	eventually(t, what, holds)
	failed = false
}

// logged returns the last lines of all processes.
func (f *farm) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.log.String()
	return text[max(0, len(text)-12000):]
}

// connect connects to the brokers when they are up.
func (f *farm) connect(t *testing.T, shards int) (*nats.Conn, *jetstream.Cluster) {
	t.Helper()
	nc, err := nats.Connect(f.brokers, jetstream.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	c, err := jetstream.Connect(t.Context(), nc, jetstream.Config{Shards: shards, Logger: f.logger()})
	if err != nil {
		t.Fatal(errors.Join(err, errors.New(f.logged())))
	}
	return nc, c
}
