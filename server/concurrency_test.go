package server_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/server"
)

// 200 clients submit at the same time, each of them twice over with the same
// keys from two goroutines; meanwhile models are published and read. Every
// report is counted exactly once.
func TestTwoHundredConcurrentClients(t *testing.T) {
	const clients, perClient = 200, 3
	p := start(t, server.Config{})
	r := open(t, p, cocoRound("r"))
	part := join(t, p, "r")
	all := encode(t, part, clients*perClient)

	var group errgroup.Group
	var mu sync.Mutex
	accepted, duplicates := uint64(0), uint64(0)
	for i := range clients {
		batch := all[i*perClient : (i+1)*perClient]
		for range 2 {
			group.Go(func() error {
				req := request(t, r, 0, batch...)
				req.BatchKey = fmt.Appendf(nil, "client-%09d", i)
				resp, err := submit(t, p, req)
				mu.Lock()
				defer mu.Unlock()
				accepted += resp.GetAccepted()
				duplicates += resp.GetDuplicates()
				return err
			})
		}
		if i%20 == 0 {
			group.Go(func() error {
				_, err := p.operator.PutModel(t.Context(), "text/plain", fmt.Appendf(nil, "model %d", i))
				if err == nil {
					_, err = p.client.Model(t.Context())
				}
				if status.Code(err) == codes.Aborted { // two newer models were published meanwhile
					err = nil
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if accepted != clients*perClient || duplicates != clients*perClient {
		t.Errorf("accepted %d and %d duplicates, want %d of each", accepted, duplicates, clients*perClient)
	}
	if err := p.operator.CloseRound(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	got, err := p.operator.Estimate(t.Context(), "r", false)
	if err != nil {
		t.Fatal(err)
	}
	if want := estimateOf(t, part.Mechanism(), all); !reflect.DeepEqual(got, want) {
		t.Errorf("estimate of %d reports %v, want of %d %v", got.Reports, got.Mean(), want.Reports, want.Mean())
	}
}

// Clients submit while the round closes: each report is either acknowledged and
// counted, or refused and not counted.
func TestClosingWhileClientsSubmit(t *testing.T) {
	p := start(t, server.Config{})
	r := cocoRound("r")
	r.TargetReports = 50
	r = open(t, p, r)
	reports := encode(t, join(t, p, "r"), 200)
	var group errgroup.Group
	var mu sync.Mutex
	accepted := uint64(0)
	for i, report := range reports {
		group.Go(func() error {
			req := request(t, r, 0, report)
			req.BatchKey = fmt.Appendf(nil, "client-%09d", i)
			resp, err := submit(t, p, req)
			if err == nil {
				mu.Lock()
				accepted += resp.GetAccepted()
				mu.Unlock()
			}
			return nil // late ones are refused
		})
	}
	e, err := p.operator.Estimate(t.Context(), "r", true)
	if err != nil {
		t.Fatal(err)
	}
	_ = group.Wait()
	if e.Reports != int64(accepted) || accepted < 50 {
		t.Errorf("the estimate has %d reports, %d were acknowledged, the target is 50", e.Reports, accepted)
	}
}
