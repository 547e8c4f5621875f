package server_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/server/journal"
)

// tally counts what clients know of their reports to one round.
type tally struct {
	round             fl.Round
	digest            [32]byte
	counted, doubtful atomic.Int64
}

// 200 clients send and send again while rounds are closed and aborted and while the server is
// stopped and started anew. A round that is closed has counted every report that was
// acknowledged, and none that was not sent.
func TestTwoHundredClientsThroughAbortsClosesAndRestarts(t *testing.T) {
	t.Parallel() // it mostly waits
	const clients, rounds, restarts = 200, 12, 6
	kept := journal.NewMemory()
	var current atomic.Pointer[servertest.Server]
	var tallies sync.Map // of *tally by id
	begin := func() {
		s, err := servertest.Start(server.Config{Journal: kept, KeepRounds: 100})
		if err != nil {
			t.Error(err)
			return
		}
		current.Store(s)
	}
	begin()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var open atomic.Pointer[tally]
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(c), 7))
			for i := 0; ctx.Err() == nil; i++ {
				if to := open.Load(); to != nil {
					to.send(ctx, current.Load(), fmt.Appendf(nil, "client-%04d-%010d", c, i), rng)
				}
				time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
			}
		})
	}
	for i := range rounds {
		opened, err := current.Load().Operator().OpenRound(ctx, puppetRound(fmt.Sprint("r", i), nil))
		if err != nil {
			t.Fatal(err)
		}
		now := &tally{round: opened}
		if now.digest, err = opened.Digest(); err != nil {
			t.Fatal(err)
		}
		tallies.Store(opened.ID, now)
		open.Store(now)
		time.Sleep(20 * time.Millisecond)
		if i%(rounds/restarts) == 0 {
			if err := current.Load().Close(); err != nil {
				t.Error(err)
			}
			begin()
			time.Sleep(20 * time.Millisecond)
		}
		for now.counted.Load() < 150 && t.Context().Err() == nil { // there is load, however slow it is
			time.Sleep(time.Millisecond)
		}
		operator := current.Load().Operator()
		if i%3 == 2 {
			err = operator.AbortRound(ctx, opened.ID)
		} else {
			err = operator.CloseRound(ctx, opened.ID)
		}
		if err != nil {
			t.Errorf("round %s: %v", opened.ID, err)
		}
	}
	stop()
	wg.Wait()
	counted := int64(0)
	for i := range rounds {
		id := fmt.Sprint("r", i)
		found, _ := tallies.Load(id)
		e, err := current.Load().Operator().Estimate(t.Context(), id, false)
		if i%3 == 2 {
			wantCode(t, id, errors.Unwrap(err), codes.FailedPrecondition)
			continue
		}
		least, doubtful := found.(*tally).counted.Load(), found.(*tally).doubtful.Load()
		if err != nil || e.Reports < least || e.Reports > least+doubtful {
			t.Errorf("round %s: %v, %v; %d reports were acknowledged and %d are in doubt", id, e, err, least, doubtful)
		}
		counted += least
	}
	if counted < 1000 {
		t.Errorf("%d reports were counted: no load", counted)
	}
	if err := current.Load().Close(); err != nil {
		t.Error(err)
	}
}

// send sends two reports as a batch, up to three times, until it is known whether they are
// counted.
func (y *tally) send(ctx context.Context, s *servertest.Server, key []byte, rng *rand.Rand) {
	sent := false
	for range 3 {
		stream, err := service.NewRoundsClient(s.Conn()).SubmitReports(ctx)
		if err != nil {
			break
		}
		sent = true
		_ = stream.Send(&service.SubmitReportsRequest{ // CloseAndRecv has the reason
			RoundId: y.round.ID, RoundDigest: y.digest[:], BatchKey: key, Reports: []byte("cc"),
		})
		_, err = stream.CloseAndRecv()
		if err == nil {
			y.counted.Add(2)
			return
		}
		if status.Code(err) == codes.FailedPrecondition && sent {
			break
		}
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
	}
	if sent {
		y.doubtful.Add(2)
	}
}
