package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/hushgrad/hushgrad/internal/service"
	parties "github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/admit"
)

// tokensPerSecond is the unit of an issuer's rate, and of nothing else.
const tokensPerSecond = "tokens/s"

// issuing is the traffic of clients that ask an issuer for a token, each once.
type issuing struct{ clients int }

func (t issuing) String() string {
	return fmt.Sprintf("1 token per call, %d clients with a secret each", t.clients)
}

// issuing is the measurement of an issuer in a process of its own, with a journal on disk.
func (b *bench) issuing() *measurement {
	t := issuing{b.tokens}
	m := &measurement{what: "issuer, journal on disk", setting: t.String(), unit: tokensPerSecond}
	m.measure = func(ctx context.Context) ([]float64, error) {
		return b.anew(func(dir string) ([]float64, error) {
			got, err := t.measure(ctx, b.binary, dir)
			return []float64{got.rate, got.server, got.clients}, err
		})
	}
	return m
}

// measure starts an issuer and lets the clients ask it for tokens of one round.
func (t issuing) measure(ctx context.Context, binary, dir string) (got speed, err error) {
	bearers := filepath.Join(dir, "bearers")
	secrets, err := t.admit(bearers)
	if err != nil {
		return got, err
	}
	operator, err := freeAddress()
	if err != nil {
		return got, err
	}
	p, err := Start(ctx, binary, "--role", "issuer", "--data", filepath.Join(dir, "journal"), "--bearers", bearers, "--operator", operator)
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	requests, err := t.requests(ctx, operator)
	if err != nil {
		return got, err
	}
	if err := settled(ctx, p); err != nil {
		return got, err
	}
	return t.ask(ctx, p, secrets, requests)
}

// admit writes the issuer's file of clients and returns their secrets.
func (t issuing) admit(file string) (secrets []string, err error) {
	var lines strings.Builder
	for i := range t.clients {
		secret, line, err := parties.NewBearer(fmt.Sprint("client", i))
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
		fmt.Fprintln(&lines, line)
	}
	return secrets, os.WriteFile(file, []byte(lines.String()), 0o600)
}

// requests blinds a message of each client, under a new key of the issuer.
func (t issuing) requests(ctx context.Context, operator string) (all []*admit.Request, err error) {
	conn, err := grpc.NewClient(operator, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	key, err := service.NewIssuerOperatorClient(conn).CreateKey(ctx, &service.CreateKeyRequest{RoundId: "tokens"})
	if err != nil {
		return nil, err
	}
	for range t.clients {
		r, err := admit.NewRequest(key.GetKey().GetPublicKey(), [32]byte{1})
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// settled waits until a process does nothing: an issuer makes its next key ahead of time.
func settled(ctx context.Context, p *Process) error {
	const look, little = 200 * time.Millisecond, 1e-3 // seconds of processor time
	before, _, err := p.Processors()
	for err == nil {
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
		var now float64
		if now, _, err = p.Processors(); now-before < little {
			break
		}
		before = now
	}
	return err
}

// ask lets the clients ask at the same time, as many as there are callers. An answer that makes no token is an error.
func (t issuing) ask(ctx context.Context, p *Process, secrets []string, requests []*admit.Request) (speed, error) {
	server, clients, err := p.Processors()
	if err != nil {
		return speed{}, err
	}
	answers := make([][]byte, t.clients)
	start := time.Now()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(callers)
	for i, r := range requests {
		issuer, id := service.NewIssuerClient(p.Conns[i%len(p.Conns)]), r.KeyID()
		group.Go(func() error {
			shows := metadata.AppendToOutgoingContext(inner, "authorization", "Bearer "+secrets[i])
			resp, err := issuer.IssueToken(shows, &service.IssueTokenRequest{TokenKeyId: id[:], BlindedMessage: r.BlindedMessage()})
			answers[i] = resp.GetBlindSignature()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return speed{}, err
	}
	took, tokens := time.Since(start), float64(t.clients)
	serverAfter, clientsAfter, err := p.Processors()
	if err != nil {
		return speed{}, err
	}
	for i, r := range requests {
		if _, err := r.Finalize(answers[i]); err != nil {
			return speed{}, err
		}
	}
	return speed{tokens / took.Seconds(), (serverAfter - server) / tokens, (clientsAfter - clients) / tokens}, nil
}
