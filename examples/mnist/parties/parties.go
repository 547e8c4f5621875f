// Package parties runs who holds the rounds of a demo: one server in this process, or an issuer, a
// shuffler and an aggregator, each as a process of the hushgrad binary, all on loopback addresses. Use it
// for a demo or a test of rounds with a shuffler. Start with [Open].
//
// The certificates, the secrets of the clients and the state of the processes are made for one run
// and are below one directory. All three run as the same user on one machine, who sees everything:
// what this package shows is how the parties work together, and nobody is protected by it.
package parties

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// Names of the parties in their certificates. Rounds have Shuffler as their shuffler's name, too.
const (
	Issuer     = "issuer.demo"
	Shuffler   = "shuffler.demo"
	Aggregator = "aggregator.demo"

	operatorName = "trainer.demo" // opens rounds and makes the issuer's keys
)

// Config says what is started.
type Config struct {
	Binary  string // hushgrad, see Build
	Dir     string // a directory for this run alone
	Clients int    // that the issuer knows
	Floor   int    // fewest reports that the shuffler forwards
	Rounds  int    // that the aggregator keeps when they have ended
	// Dashboard is the address of the page that shows the aggregator. Port 0 is a free one. Empty:
	// there is no page.
	Dashboard string
}

// Parties are three running processes, and what the clients and the trainer know of them. Bearer is
// safe for concurrent use.
type Parties struct {
	// SealKey is the fingerprint of the aggregator's key, and ShareKey the shuffler's public key.
	SealKey  seal.Fingerprint
	ShareKey []byte
	// Dashboard is the URL of the aggregator's page, empty for none.
	Dashboard string

	secrets   []client.Bearer
	security  *security
	addresses map[string]string // of the listeners, by their flags' values
	closers   []func() error
}

// Build returns the path of hushgrad. Where there is none beside this program, as in a release, Build compiles it into a
// directory: the working directory must be in the module. Cost: a minute, and a second when it is in Go's cache.
func Build(ctx context.Context, dir string) (string, error) {
	if this, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(this), "hushgrad")); err == nil {
			return beside, nil
		}
	}
	binary := filepath.Join(dir, "hushgrad")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/hushgrad/hushgrad/cmd/hushgrad").CombinedOutput()
	if err != nil {
		return "", errors.Join(ctx.Err(), fmt.Errorf("go build: %w\n%s", err, out))
	}
	return binary, nil
}

// Start starts the processes and returns when they answer. Close ends them.
func Start(ctx context.Context, c Config) (_ *Parties, err error) {
	p := &Parties{addresses: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if c.Clients < 1 || c.Floor < 1 || c.Rounds < 1 {
		return nil, fl.Invalid("Clients, Floor and Rounds", fmt.Sprint(c.Clients, ", ", c.Floor, " and ", c.Rounds), "must be at least 1")
	}
	if p.security, err = newSecurity(c.Dir); err != nil {
		return nil, err
	}
	bearers, err := p.drawSecrets(c)
	if err != nil {
		return nil, err
	}
	if err := p.reserve("issuer", "issuer-operator", "shuffler", "aggregator", "aggregator-operator", "aggregator-shuffler"); err != nil {
		return nil, err
	}
	shown, err := p.page(c.Dashboard)
	if err != nil {
		return nil, err
	}
	aggregatorState, shufflerState := filepath.Join(c.Dir, "aggregator"), filepath.Join(c.Dir, "shuffler")
	for _, party := range []struct {
		command, name string
		listeners     []string
		args          []string
	}{
		{"issue", Issuer, []string{"issuer", "issuer-operator"}, []string{
			"--operator-listen", p.addresses["issuer-operator"], "--operator-ca", p.security.authority, "--operator-name", operatorName,
			"--bearer-file", bearers, "--listen", p.addresses["issuer"], "--data", filepath.Join(c.Dir, "issuer"),
		}},
		{"serve", Aggregator, []string{"aggregator", "aggregator-operator", "aggregator-shuffler"}, []string{
			"--operator-listen", p.addresses["aggregator-operator"], "--operator-ca", p.security.authority, "--operator-name", operatorName,
			"--shuffler-listen", p.addresses["aggregator-shuffler"], "--shuffler-ca", p.security.authority, "--shuffler-name", Shuffler,
			"--listen", p.addresses["aggregator"], "--data", aggregatorState, "--dashboard", shown, "--keep-rounds", strconv.Itoa(c.Rounds),
		}},
		{"shuffle", Shuffler, []string{"shuffler"}, []string{
			"--name", Shuffler, "--floor", strconv.Itoa(c.Floor), "--upstream", p.addresses["aggregator-shuffler"], "--upstream-tls-ca", p.security.authority,
			"--upstream-tls-cert", p.security.certificate(Shuffler), "--upstream-tls-key", p.security.key(Shuffler),
			"--listen", p.addresses["shuffler"], "--data", shufflerState,
		}},
	} {
		args := append([]string{party.command, "--log-format", "json",
			"--tls-cert", p.security.certificate(party.name), "--tls-key", p.security.key(party.name)}, party.args...)
		process, err := start(c.Binary, args...)
		if err != nil {
			return nil, err
		}
		p.closers = append(p.closers, process.stop)
		var addresses []string
		for _, l := range party.listeners {
			addresses = append(addresses, p.addresses[l])
		}
		if err := process.serving(ctx, addresses); err != nil {
			return nil, err
		}
	}
	public, err := publicKey(ctx, c.Binary, "serve", aggregatorState)
	if err != nil {
		return nil, err
	}
	p.SealKey = seal.FingerprintOf(public)
	p.ShareKey, err = publicKey(ctx, c.Binary, "shuffle", shufflerState)
	return p, err
}

// publicKey asks a party for its newest key.
func publicKey(ctx context.Context, binary, command, state string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, binary, command, "keys", "--data", state, "--output", "json").Output()
	if err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("hushgrad %s keys: %w", command, err))
	}
	var keys []struct {
		Public []byte `json:"public_key"`
	}
	if err := json.Unmarshal(out, &keys); err != nil || len(keys) == 0 {
		return nil, errors.Join(err, fl.Invalid("keys", string(out), "must list one"))
	}
	return keys[0].Public, nil
}

// Clients returns new connections to the shuffler and to the issuer, for clients. That to the issuer
// says nothing of who calls, see Bearer.
func (p *Parties) Clients() (shuffler, issuer *grpc.ClientConn, err error) {
	if shuffler, err = p.dial("shuffler", Shuffler, ""); err != nil {
		return nil, nil, err
	}
	issuer, err = p.dial("issuer", Issuer, "")
	return shuffler, issuer, err
}

// Trainer returns new connections to the operators' listeners of the aggregator and of the issuer.
func (p *Parties) Trainer() (aggregator, issuer *grpc.ClientConn, err error) {
	if aggregator, err = p.dial("aggregator-operator", Aggregator, operatorName); err != nil {
		return nil, nil, err
	}
	issuer, err = p.dial("issuer-operator", Issuer, operatorName)
	return aggregator, issuer, err
}

// Bearer returns the secret by which the issuer knows a client: one of 0, …, Config.Clients − 1.
func (p *Parties) Bearer(number int) client.Bearer { return p.secrets[number] }

// dial connects to a party by its name, with a certificate of our own if there is a name for it.
func (p *Parties) dial(listener, party, as string) (*grpc.ClientConn, error) {
	config := &tls.Config{RootCAs: p.security.pool, ServerName: party, MinVersion: tls.VersionTLS13}
	if as != "" {
		own, err := tls.LoadX509KeyPair(p.security.certificate(as), p.security.key(as))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	conn, err := grpc.NewClient(p.addresses[listener], grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err == nil {
		p.closers = append(p.closers, conn.Close)
	}
	return conn, err
}

// Close closes all connections and ends the processes, the last one that was started first. The error
// says how a process ended that failed, and what it logged.
func (p *Parties) Close() (err error) {
	for _, closer := range slices.Backward(p.closers) {
		err = errors.Join(err, closer())
	}
	p.closers = nil
	return err
}
