package client_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/ledger"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
	forwarder "github.com/hushgrad/hushgrad/server/shuffler"
)

// lossy is a connection that loses the answers to submissions while lost is above 0.
type lossy struct {
	grpc.ClientConnInterface
	mu   sync.Mutex
	lost int
}

func (c *lossy) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := c.ClientConnInterface.NewStream(ctx, desc, method, opts...)
	if desc.ClientStreams {
		stream = lossyStream{stream, c}
	}
	return stream, err
}

type lossyStream struct {
	grpc.ClientStream
	conn *lossy
}

func (s lossyStream) RecvMsg(m any) error {
	if err := s.ClientStream.RecvMsg(m); err != nil {
		return err
	}
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.conn.lost == 0 {
		return nil
	}
	s.conn.lost--
	return status.Error(codes.Unavailable, "the answer is lost")
}

// behind starts a server with an open round, in front of it a shuffler if the round has one, and returns
// the clients' connection and how many reports were counted.
func behind(t *testing.T, shuffled bool) (*lossy, func() int64) {
	t.Helper()
	r := fl.Round{ID: "r", Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1, Params: fl.Params{"sparsity": fl.Int(4)}}
	cfg := server.Config{}
	if shuffled {
		keys, err := seal.OpenKeys(filepath.Join(t.TempDir(), "keys"), seal.X25519)
		if err != nil {
			t.Fatal(err)
		}
		key, err := keys.Newest()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Seal, r.Shuffler, r.SealKey = keys, shufflerName, key.Public()
	}
	s, err := servertest.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Operator().OpenRound(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	conn := s.Conn()
	if shuffled {
		front, err := forwarder.New(forwarder.Config{
			Name: shufflerName, Upstream: s.Conn(), Journal: journal.NewMemory(), Floor: 1, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(front.Close)
		conn = serve(t, func(g *grpc.Server) { front.Register(g) })
	}
	return &lossy{ClientConnInterface: conn}, func() int64 {
		if err := s.Operator().CloseRound(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		e, err := s.Operator().Estimate(t.Context(), "r", true)
		if err != nil {
			t.Fatal(err)
		}
		return e.Reports
	}
}

// A server counts reports and its answers are lost, until the client's attempts run out, several times.
// To submit the same reports again counts them once.
func TestReportsWhoseAnswersAreLostCountOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	const n = 10
	for name, shuffled := range map[string]bool{"direct": false, "shuffled": true} {
		conn, counted := behind(t, shuffled)
		// 25 bytes of a batch: several batches for a direct round.
		p := joinWith(t, conn, client.Options{Policy: fl.Policy{MaxEpsilon: 2, TrustShuffler: true}, Attempts: 2, BatchBytes: 25})
		var reports [][]byte
		for range n {
			reports = append(reports, encodeOne(t, p))
		}
		conn.lost = 4
		for range 2 {
			if _, err := p.Submit(t.Context(), reports); status.Code(err) != codes.Unavailable {
				t.Fatalf("%s: %v, want UNAVAILABLE", name, err)
			}
		}
		receipt, err := p.Submit(t.Context(), slices.Clone(reports))
		if err != nil || receipt != (client.Receipt{Duplicates: n}) {
			t.Errorf("%s: the third call: %+v, %v, want %d duplicates", name, receipt, err, n)
		}
		// What was acknowledged is over: equal reports of others count.
		if receipt, err = p.Submit(t.Context(), reports[:1]); err != nil || receipt != (client.Receipt{Accepted: 1}) {
			t.Errorf("%s: an equal report: %+v, %v", name, receipt, err)
		}
		if got := counted(); got != n+1 {
			t.Errorf("%s: %d reports were counted, want %d", name, got, n+1)
		}
	}
}

// Clients of a simulation whose reports are equal count one by one, also at the same time and while
// answers are lost: each of them tries again until it has a receipt.
func TestEqualReportsOfSeveralClientsAllCount(t *testing.T) {
	t.Parallel() // it mostly waits
	const n = 16
	for name, shuffled := range map[string]bool{"direct": false, "shuffled": true} {
		conn, counted := behind(t, shuffled)
		p := joinWith(t, conn, client.Options{Policy: fl.Policy{MaxEpsilon: 2, TrustShuffler: true}, Attempts: 1})
		report := encodeOne(t, p)
		conn.lost = n / 2
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				for range n {
					if _, err := p.Submit(t.Context(), [][]byte{report}); err == nil {
						return
					}
				}
				t.Errorf("%s: a client got no receipt", name)
			})
		}
		wg.Wait()
		if got := counted(); got != n {
			t.Errorf("%s: %d reports were counted, want %d", name, got, n)
		}
	}
}

// The token of a report stays with it, in memory as in a ledger.
func TestATokenWhoseAnswerIsLostIsSpentOnce(t *testing.T) {
	for name, l := range map[string]*ledger.Ledger{"in memory": nil, "in a ledger": openLedger(t, 10)} {
		a := admitOne(t)
		purpose := ""
		if l != nil {
			purpose = "digits"
		}
		conn := &lossy{ClientConnInterface: a.rounds, lost: 2}
		p := joinRound(t, newClient(t, conn, client.Options{Issuer: a.tokens, Attempts: 1, Ledger: l, Purpose: purpose}), "r")
		report := encodeOne(t, p)
		for range 2 {
			if _, err := p.Submit(t.Context(), [][]byte{report}); status.Code(err) != codes.Unavailable {
				t.Fatalf("%s: %v, want UNAVAILABLE", name, err)
			}
		}
		receipt, err := p.Submit(t.Context(), [][]byte{slices.Clone(report)})
		if err != nil || receipt != (client.Receipt{Duplicates: 1}) {
			t.Errorf("%s: the third call: %+v, %v, want a duplicate", name, receipt, err)
		}
		if got := a.reports(t); got != 1 {
			t.Errorf("%s: %d reports were counted, want 1", name, got)
		}
	}
}
