package shuffler

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hushgrad/hushgrad/internal/durable/outage"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal/disk"
	"github.com/hushgrad/hushgrad/server/seal"
)

// These variables make the test binary a role, with its state in a directory, on an address.
const (
	roleEnv     = "HUSHGRAD_TEST_ROLE" // server or shuffler
	dirEnv      = "HUSHGRAD_TEST_DIR"
	addressEnv  = "HUSHGRAD_TEST_ADDRESS"
	upstreamEnv = "HUSHGRAD_TEST_UPSTREAM"
)

func TestMain(m *testing.M) {
	role := map[string]func(context.Context, string, net.Listener) error{"server": serverRole, "shuffler": shufflerRole}[os.Getenv(roleEnv)]
	if role == nil {
		_ = flag.Set("test.parallel", "8") // most parallel tests wait. A value on the command line is read later
		code := m.Run()
		_ = os.RemoveAll(shareKeys())
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", os.Getenv(addressEnv))
	if err == nil {
		fmt.Println(l.Addr())
		err = role(ctx, os.Getenv(dirEnv), l)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func openDisk(dir string) (*disk.Journal, error) {
	return disk.Open(dir, disk.Options{MinFree: 1})
}

func serverRole(ctx context.Context, dir string, l net.Listener) error {
	kept, err := openDisk(filepath.Join(dir, "server"))
	if err != nil {
		return err
	}
	keys, err := seal.OpenKeys(filepath.Join(dir, "keys"), seal.X25519)
	if err != nil {
		return err
	}
	s, err := server.New(server.Config{Journal: kept, Seal: keys, Releases: filepath.Join(dir, "releases")})
	if err != nil {
		return err
	}
	return errors.Join(s.Serve(ctx, server.Listeners{Clients: l}), kept.Close())
}

func shufflerRole(ctx context.Context, dir string, l net.Listener) error {
	kept, err := openDisk(filepath.Join(dir, "shuffler"))
	if err != nil {
		return err
	}
	conn, err := dial(os.Getenv(upstreamEnv))
	if err != nil {
		return err
	}
	keys, err := seal.OpenKeys(filepath.Join(dir, "share-keys"), seal.X25519)
	if err != nil {
		return err
	}
	s, err := New(Config{
		Name: testName, Upstream: conn, Journal: kept, Keys: keys, Secrets: filepath.Join(dir, "secrets"), Floor: 10,
		ForwardBytes: 2000, every: 50 * time.Millisecond, // a few reports in each message, so that there are many
	})
	if err != nil {
		return err
	}
	err = s.Serve(ctx, Listeners{Clients: l})
	s.Close()
	return errors.Join(err, kept.Close())
}

// shareKeyIn returns the key of the shuffler that is to run with its state in a directory.
func shareKeyIn(t *testing.T, dir string) []byte {
	t.Helper()
	return newestOf(t, filepath.Join(dir, "share-keys")).Public()
}

// newestOf returns the newest key of a directory, which has one then.
func newestOf(t testing.TB, dir string) *seal.Key {
	t.Helper()
	keys, err := seal.OpenKeys(dir, seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.Newest()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// dial returns a connection that tries a dead peer again soon.
func dial(address string) (*grpc.ClientConn, error) {
	params := grpc.ConnectParams{MinConnectTimeout: time.Second}
	params.Backoff.BaseDelay, params.Backoff.MaxDelay = 20*time.Millisecond, 50*time.Millisecond
	params.Backoff.Multiplier = 1.6
	return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithConnectParams(params))
}

// process is a role in a process of its own, which keeps its address.
type process struct {
	role, dir, upstream string
	address             string
	cmd                 *exec.Cmd
	log                 bytes.Buffer
}

func startProcess(t *testing.T, role, dir, upstream string) *process {
	t.Helper()
	p := &process{role: role, dir: dir, upstream: upstream, address: "127.0.0.1:0"}
	p.start(t)
	t.Cleanup(func() { _ = p.end(syscall.SIGKILL) })
	return p
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.log.Reset()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), roleEnv+"="+p.role, dirEnv+"="+p.dir, addressEnv+"="+p.address, upstreamEnv+"="+p.upstream)
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		_ = p.cmd.Wait()
		t.Fatalf("%s did not start: %v\n%s", p.role, err, &p.log)
	}
	p.address = strings.TrimSpace(string(line[:n]))
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// end sends a signal and returns how the process ended.
func (p *process) end(signal os.Signal) error {
	return errors.Join(p.cmd.Process.Signal(signal), p.cmd.Wait())
}

// again ends the process, at every fourth time by SIGTERM and otherwise with its power, if that can be cut, and starts it anew.
func (p *process) again(t *testing.T, time int) {
	t.Helper()
	if time%4 == 3 {
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Errorf("%s after SIGTERM: %v\n%s", p.role, err, &p.log)
		}
	} else {
		outage.During(t, p.dir, func() { _ = p.end(syscall.SIGKILL) }) // it says that it was killed
	}
	p.start(t)
}
