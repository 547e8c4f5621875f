package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// issuing is the traffic of clients that ask an issuer for the tokens of some rounds, each in one call.
type issuing struct{ clients, rounds int }

func (t issuing) String() string {
	call := fmt.Sprintf("tokens of %d rounds per call", t.rounds)
	if t.rounds == 1 {
		call = "1 token per call"
	}
	return fmt.Sprintf("%s, %d clients with a secret each", call, t.clients)
}

// measure starts an issuer and lets the clients ask it for tokens.
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

// requests blinds the messages of each client, each under another new key of the issuer.
func (t issuing) requests(ctx context.Context, operator string) (all [][]*admit.Request, err error) {
	conn, err := grpc.NewClient(operator, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	keys := make([][]byte, t.rounds)
	for i := range keys {
		key, err := service.NewIssuerOperatorClient(conn).CreateKey(ctx, &service.CreateKeyRequest{RoundId: fmt.Sprint("tokens", i)})
		if err != nil {
			return nil, err
		}
		keys[i] = key.GetKey().GetPublicKey()
	}
	for range t.clients {
		var own []*admit.Request
		for _, key := range keys {
			r, err := admit.NewRequest(key, [32]byte{1})
			if err != nil {
				return nil, err
			}
			own = append(own, r)
		}
		all = append(all, own)
	}
	return all, nil
}

// settled waits until a process does nothing: an issuer makes its next keys ahead of time, a second after the last ones were taken.
func settled(ctx context.Context, p *Process) error {
	const look, little = 1500 * time.Millisecond, 5e-3 // seconds of processor time
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
func (t issuing) ask(ctx context.Context, p *Process, secrets []string, requests [][]*admit.Request) (speed, error) {
	server, clients, err := p.Processors()
	if err != nil {
		return speed{}, err
	}
	answers := make([][]byte, t.clients)
	start := time.Now()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(callers)
	for i, own := range requests {
		issuer, call := service.NewIssuerClient(p.Conns[i%len(p.Conns)]), &service.IssueTokensRequest{}
		for _, r := range own {
			id := r.KeyID()
			call.TokenKeyIds, call.BlindedMessages = append(call.TokenKeyIds, id[:]...), append(call.BlindedMessages, r.BlindedMessage()...)
		}
		group.Go(func() error {
			shows := metadata.AppendToOutgoingContext(inner, "authorization", "Bearer "+secrets[i])
			resp, err := issuer.IssueTokens(shows, call)
			answers[i] = resp.GetBlindSignatures()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return speed{}, err
	}
	took, tokens := time.Since(start), float64(t.clients*t.rounds)
	serverAfter, clientsAfter, err := p.Processors()
	if err != nil {
		return speed{}, err
	}
	for i, own := range requests {
		got := slices.Collect(slices.Chunk(answers[i], admit.SignatureBytes))
		if len(got) != len(own) {
			return speed{}, fmt.Errorf("%d signatures for %d messages", len(got), len(own))
		}
		for n, r := range own {
			if _, err := r.Finalize(got[n]); err != nil {
				return speed{}, err
			}
		}
	}
	return speed{tokens / took.Seconds(), (serverAfter - server) / tokens, (clientsAfter - clients) / tokens}, nil
}
