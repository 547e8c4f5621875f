package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/client"
)

func TestSubmitFillsItsBatches(t *testing.T) {
	// The reports of tiers have no fixed size. One of n bytes costs n+1: 18 bytes hold three of
	// 5 bytes, or 0 and 1, but not 1 and 24. One that costs more goes alone.
	l := &liar{status: openTiers(t)}
	part, err := newClient(t, dial(t, l), client.Options{BatchBytes: 18}).Join(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	var reports [][]byte
	for i, n := range []int{5, 5, 5, 5, 5, 5, 5, 50, 24, 0, 1, 24} {
		report := make([]byte, n)
		if n > 0 {
			report[0] = byte(i)
		}
		reports = append(reports, report)
	}
	receipt, err := part.Submit(t.Context(), reports)
	if err != nil || receipt != (client.Receipt{Accepted: 7, Duplicates: 3}) {
		t.Errorf("receipt %+v, %v, want what the server said", receipt, err)
	}
	want := [][]int{{5, 5, 5}, {5, 5, 5}, {5}, {50}, {24}, {0, 1}, {24}}
	if len(l.batches) != len(want) {
		t.Fatalf("%d batches, want %d", len(l.batches), len(want))
	}
	digest, err := part.Round().Digest()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	next := 0
	for i, b := range l.batches {
		if b.GetRoundId() != "r" || string(b.GetRoundDigest()) != string(digest[:]) || len(b.GetBatchKey()) != 16 {
			t.Errorf("batch %d: %v, want the round's id and digest and a key of 16 bytes", i, b)
		}
		keys[string(b.GetBatchKey())] = true
		got, err := fl.UnpackReports(part.Mechanism(), b.GetReports())
		if err != nil || len(got) != len(want[i]) {
			t.Fatalf("batch %d has %d reports, %v, want %d", i, len(got), err, len(want[i]))
		}
		for _, r := range got {
			if string(r) != string(reports[next]) {
				t.Errorf("batch %d: report %x, want %x", i, r, reports[next])
			}
			next++
		}
	}
	if len(keys) != len(want) {
		t.Errorf("%d keys for %d batches", len(keys), len(want))
	}
}

// refusing is a connection on which submissions fail.
type refusing struct {
	grpc.ClientConnInterface
	status *service.RoundStatus
	code   codes.Code
	down   int // calls for a round that fail first
	calls  int
	waits  []time.Duration // before all calls but the first
	last   time.Time
}

func (c *refusing) Invoke(_ context.Context, _ string, _, reply any, _ ...grpc.CallOption) error {
	if c.down--; c.down >= 0 {
		return status.Error(c.code, "refused")
	}
	proto.Merge(reply.(proto.Message), &service.GetRoundResponse{Status: c.status})
	return nil
}

func (c *refusing) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	if c.calls++; c.calls > 1 {
		c.waits = append(c.waits, time.Since(c.last))
	}
	c.last = time.Now()
	return nil, status.Error(c.code, "refused")
}

func TestOnlyAnUnavailableServerIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		code            codes.Code
		attempts, calls int
	}{
		{codes.FailedPrecondition, 4, 1},
		{codes.InvalidArgument, 4, 1},
		{codes.Internal, 4, 1},
		{codes.Unavailable, 1, 1},
		{codes.Unavailable, 4, 4},
		{codes.Unavailable, 0, 5}, // the default
	} {
		synctest.Test(t, func(t *testing.T) { // waiting costs nothing in the bubble
			conn := &refusing{status: openRound(t), code: c.code}
			part, err := newClient(t, conn, client.Options{Attempts: c.attempts}).Join(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			_, err = part.Submit(t.Context(), [][]byte{make([]byte, 5)})
			if status.Code(err) != c.code || conn.calls != c.calls {
				t.Errorf("%v with %d attempts: %d calls, %v, want %d", c.code, c.attempts, conn.calls, err, c.calls)
			}
		})
	}
}

// A client outlives a server that starts again before its first call.
func TestAnUnavailableServerIsAskedForTheRoundAgain(t *testing.T) {
	for _, c := range []struct {
		refusal     codes.Code
		down, calls int
		want        codes.Code
	}{
		{codes.Unavailable, 4, 5, codes.OK},
		{codes.Unavailable, 5, 5, codes.Unavailable},
		{codes.NotFound, 1, 1, codes.NotFound},
	} {
		synctest.Test(t, func(t *testing.T) {
			conn := &refusing{status: openRound(t), code: c.refusal, down: c.down}
			_, err := newClient(t, conn, client.Options{}).Join(t.Context(), "r")
			if calls := c.down - conn.down; status.Code(err) != c.want || calls != c.calls {
				t.Errorf("%d times %v: %d calls, %v, want %d, %v", c.down, c.refusal, calls, err, c.calls, c.want)
			}
		})
	}
}

// The wait before attempt n+1 is drawn from the upper half of 100 ms · 2^(n−1), at most 5 s.
func TestBackoff(t *testing.T) {
	const clients, attempts = 20, 101
	synctest.Test(t, func(t *testing.T) {
		var waits [clients][]time.Duration
		for i := range waits {
			conn := &refusing{status: openRound(t), code: codes.Unavailable}
			part, err := newClient(t, conn, client.Options{Attempts: attempts}).Join(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := part.Submit(t.Context(), [][]byte{make([]byte, 5)}); status.Code(err) != codes.Unavailable || conn.calls != attempts {
				t.Fatalf("%d calls, %v, want %d", conn.calls, err, attempts)
			}
			waits[i] = conn.waits
		}
		limits := map[int]time.Duration{
			1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 3: 400 * time.Millisecond, 6: 3200 * time.Millisecond,
			7: 5 * time.Second, 11: 5 * time.Second, 12: 5 * time.Second, 64: 5 * time.Second, 100: 5 * time.Second,
		}
		for attempt, limit := range limits {
			seen := map[time.Duration]bool{}
			for _, w := range waits {
				wait := w[attempt-1]
				if wait < limit/2 || wait >= limit {
					t.Errorf("after attempt %d: %v, want at least %v and less than %v", attempt, wait, limit/2, limit)
				}
				seen[wait] = true
			}
			if len(seen) == 1 { // by chance with probability below 1e-140
				t.Errorf("after attempt %d: %d clients wait equally long", attempt, clients)
			}
		}
	})
}

func TestACancelledClientDoesNotTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := &refusing{status: openRound(t), code: codes.Unavailable}
		part, err := newClient(t, conn, client.Options{}).Join(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		began := time.Now()
		go func() {
			_, err := part.Submit(ctx, [][]byte{make([]byte, 5)})
			failed <- err
		}()
		synctest.Wait() // it backs off after the first attempt
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) || status.Code(err) == codes.OK || conn.calls != 1 {
			t.Errorf("%d calls, %v, want 1 and Canceled", conn.calls, err)
		}
		if waited := time.Since(began); waited != 0 { // the bubble's clock stands still meanwhile
			t.Errorf("returned after %v", waited)
		}
	})
}
