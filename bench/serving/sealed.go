package serving

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// What a shuffler sends, as package server/shuffler does.
const (
	sealedPerMessage = 4096
	sealedCalls      = 2 // at once
)

// sealed is the traffic of a shuffler: sealed reports, each another one, with a token inside or
// without.
type sealed struct {
	load    *load
	reports int
	issuer  *issuer // nil without tokens
}

// what says what a report is.
func (t sealed) what() string {
	if t.issuer != nil {
		return "sealed with token"
	}
	return "sealed"
}

func (t sealed) String() string {
	return fmt.Sprintf("%s, %d at once from a shuffler, s = %d, ε = %g", t.what(), t.reports, t.load.sparsity, t.load.epsilon)
}

// forwarding is the measurement of a shuffler's traffic to a server with a journal on disk. The aim
// is for one processor, and all work for the server.
func (b *bench) forwarding(t sealed, aim float64) *measurement {
	m := &measurement{
		what: "journal on disk", setting: t.String(), unit: "reports/s", aim: aim * float64(runtime.NumCPU()),
		series: fmt.Sprintf("journal on disk, %s, s = %d", t.what(), t.load.sparsity), reports: min(t.reports, sealedPerMessage),
	}
	m.measure = func(ctx context.Context) ([]float64, error) {
		s, err := b.server(ctx, onDisk)
		if err != nil {
			return nil, err
		}
		got, err := t.measure(ctx, s)
		return []float64{got.rate, got.server, got.clients}, err
	}
	return m
}

// measure sends the reports in a round of its own, which it drops again.
func (t sealed) measure(ctx context.Context, s *server) (speed, error) {
	r, err := t.open(ctx, s)
	if err != nil {
		return speed{}, err
	}
	messages, err := t.messages(ctx, r)
	if err != nil {
		return speed{}, err
	}
	got, err := t.send(ctx, s, r, messages)
	if err != nil {
		return got, err
	}
	return got, s.abort(ctx, r)
}

// open opens a round with a shuffler.
func (t sealed) open(ctx context.Context, s *server) (r *round, err error) {
	s.sealed++
	r = &round{Round: t.load.round}
	r.ID, r.Shuffler = fmt.Sprintf("sealed-%d", s.sealed), "shuffler.example"
	if t.issuer != nil {
		r.IssuerKey, r.OuterIssuerKey = t.issuer.public, t.issuer.outer
	}
	if r.Round, err = client.NewOperator(s.Conns[0]).OpenRound(ctx, r.Round); err != nil {
		return nil, err
	}
	r.digest, err = r.Digest()
	return r, err
}

// messages seals the reports.
func (t sealed) messages(ctx context.Context, r *round) ([][]byte, error) {
	var tokens []byte
	if t.issuer != nil {
		var err error
		if tokens, err = t.issuer.tokens(ctx, r.digest, t.reports); err != nil {
			return nil, err
		}
	}
	sealer, err := seal.NewSealer(r.SealKey, r.digest)
	if err != nil {
		return nil, err
	}
	all := make([][]byte, t.reports)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() (err error) {
			plaintext := slices.Clone(t.load.pool[i*t.load.size : (i+1)*t.load.size])
			if tokens != nil {
				token := tokens[i*admit.TokenBytes:][:admit.TokenBytes]
				assign(plaintext, token)
				plaintext = append(plaintext, token...)
			}
			if err = inner.Err(); err == nil {
				all[i], err = sealer.Seal(nil, plaintext)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var messages [][]byte
	for part := range slices.Chunk(all, sealedPerMessage) {
		messages = append(messages, slices.Concat(part...))
	}
	return messages, nil
}

// send forwards the messages and waits for the last answer. A report that is rejected is an error,
// and one that is not counted.
func (t sealed) send(ctx context.Context, s *server, r *round, messages [][]byte) (speed, error) {
	server, clients, err := s.Processors()
	if err != nil {
		return speed{}, err
	}
	var rejected atomic.Int64
	start := time.Now()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(sealedCalls)
	for i, m := range messages {
		shuffler := service.NewShuffledClient(s.Conns[i%len(s.Conns)])
		group.Go(func() error {
			resp, err := shuffler.ForwardReports(inner, &service.ForwardReportsRequest{RoundId: r.ID, RoundDigest: r.digest[:], Sealed: m})
			rejected.Add(int64(len(resp.GetRejected())))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return speed{}, err
	}
	took, reports := time.Since(start), float64(t.reports)
	serverAfter, clientsAfter, err := s.Processors()
	if err != nil {
		return speed{}, err
	}
	counted, err := s.reports(ctx, r.ID)
	if err == nil && (counted != uint64(t.reports) || rejected.Load() > 0) {
		err = fmt.Errorf("serving: %d of %d sealed reports were counted, %d rejected", counted, t.reports, rejected.Load())
	}
	return speed{reports / took.Seconds(), (serverAfter - server) / reports, (clientsAfter - clients) / reports}, err
}
