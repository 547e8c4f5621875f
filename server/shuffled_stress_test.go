package server_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/server/journal"
)

// Eight shufflers at once forward the same reports, good and bad, in messages of their own, while
// the server is stopped and started and the operator asks for the end. Each good report is counted
// once, and no other.
func TestForwardingThroughRestartsCountsEachReportOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	const good, bad, restarts = 60, 30, 5
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t)}
	var current atomic.Pointer[servertest.Server]
	begin := func() {
		s, err := servertest.Start(cfg)
		if err != nil {
			t.Error(err)
			return
		}
		current.Store(s)
	}
	begin()
	i := theIssuer(t)
	r := shuffled(cocoRound("r"))
	k, err := i.CreateKey(t.Context(), r.ID, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	r.IssuerKey, r.OuterIssuerKey = k.PublicKey, k.OuterPublicKey
	if r, err = current.Load().Operator().OpenRound(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	reports := made(t, r, good)
	var plain [][]byte
	for n := range reports {
		tk := token(t, i, string(rune(n)), r)
		reports[n] = assigned(reports[n], tk)
		plain = append(plain, append(bytes.Clone(reports[n]), tk...))
	}
	for n := range bad {
		one := bytes.Clone(plain[n])
		one[len(one)-1-n] ^= 1 // a bad token
		plain = append(plain, one)
	}
	all := sealed(t, r, plain...)

	ctx, stop := context.WithCancel(t.Context())
	var calls, closes sync.WaitGroup
	var answered atomic.Int64
	for g := range uint64(8) {
		calls.Go(func() {
			rng := rand.New(rand.NewPCG(g, 5))
			for ctx.Err() == nil {
				message, isBad := make([][]byte, 1+rng.IntN(30)), 0
				for j := range message {
					n := rng.IntN(len(all))
					message[j] = all[n]
					if n >= good {
						isBad++
					}
				}
				resp, err := service.NewShuffledClient(current.Load().Conn()).ForwardReports(ctx, forwarding(t, r, message...))
				if err == nil {
					answered.Add(1)
					if len(resp.GetRejected()) != isBad {
						t.Errorf("%d of %d rejected, want %d", len(resp.GetRejected()), len(message), isBad)
					}
				} else if c := status.Code(err); c != codes.Unavailable && c != codes.Canceled {
					t.Error(err)
				}
			}
		})
	}
	for range restarts {
		for seen := answered.Load(); answered.Load() < seen+5; {
			time.Sleep(time.Millisecond)
		}
		now := current.Load()
		closes.Go(func() { _ = now.Operator().CloseRound(ctx, "r") }) // asks, and is interrupted
		if err := now.Close(); err != nil {
			t.Error(err)
		}
		begin()
	}
	p := &peers{conn: current.Load().Conn(), operator: current.Load().Operator()}
	forwardGood(t, p, r, all[:good]...)
	stop()
	calls.Wait()
	closes.Wait()
	if err := complete(t, p, r, nil); err != nil {
		t.Fatal(err)
	}
	e, err := p.operator.Estimate(t.Context(), "r", false)
	if want := estimateOf(t, mechanismOf(t, r), reports); err != nil || !reflect.DeepEqual(e, want) {
		t.Errorf("%+v, %v, want the estimate of %d reports", e, err, good)
	}
	if err := current.Load().Close(); err != nil {
		t.Error(err)
	}
}
