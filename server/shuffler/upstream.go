package shuffler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/internal/translog"
)

const (
	// maxAnswers bounds the answers that are remembered, maxAsking the calls to the server about
	// rounds at one time.
	maxAnswers = 256
	maxAsking  = 16
	// askTimeout bounds a call about a round.
	askTimeout = 10 * time.Second
)

// standing is what the server says about a round.
type standing struct {
	round   fl.Round
	digest  [32]byte
	state   service.RoundState
	reports uint64
	closing bool
	proof   []byte // that the round is in the server's log, for clients to check
}

// upstream is the server. It is asked once in Config.every about each round, however many clients ask.
type upstream struct {
	every    time.Duration // how long an answer counts as the present one
	rounds   service.RoundsClient
	shuffled service.ShuffledClient
	calls    singleflight.Group
	asking   *semaphore.Weighted

	mu      sync.Mutex
	answers map[string]answer
}

// answer is the server's answer about a round.
type answer struct {
	standing
	err error
	at  time.Time
}

func newUpstream(conn grpc.ClientConnInterface, every time.Duration) *upstream {
	return &upstream{
		every:  every,
		rounds: service.NewRoundsClient(conn), shuffled: service.NewShuffledClient(conn),
		asking: semaphore.NewWeighted(maxAsking), answers: map[string]answer{},
	}
}

// round returns how a round stands, the newest open one for "", as it was at most a second ago. The
// error wraps errNotFound or errNoServer.
func (u *upstream) round(ctx context.Context, id string) (standing, error) {
	u.mu.Lock()
	known, ok := u.answers[id]
	u.mu.Unlock()
	if ok && time.Since(known.at) < u.every {
		return known.standing, known.err
	}
	result := u.calls.DoChan(id, func() (any, error) {
		asking, cancel := context.WithTimeout(context.Background(), askTimeout) // of no single caller
		defer cancel()
		a := answer{}
		a.standing, a.err = u.ask(asking, id)
		a.at = time.Now()
		u.remember(id, a)
		return a, nil
	})
	select {
	case r := <-result:
		a := r.Val.(answer)
		return a.standing, a.err
	case <-ctx.Done():
		return standing{}, ctx.Err()
	}
}

// remember keeps an answer, in the place of older ones when there are too many.
func (u *upstream) remember(id string, a answer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.answers) >= maxAnswers {
		for other, old := range u.answers {
			if a.at.Sub(old.at) >= u.every || len(u.answers) >= maxAnswers {
				delete(u.answers, other)
			}
		}
	}
	u.answers[id] = a
}

// forget makes the next question about a round a new one.
func (u *upstream) forget(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.answers, id)
}

func (u *upstream) ask(ctx context.Context, id string) (standing, error) {
	if err := u.asking.Acquire(ctx, 1); err != nil {
		return standing{}, fmt.Errorf("%w: too many questions about rounds", errNoServer)
	}
	defer u.asking.Release(1)
	resp, err := u.rounds.GetRound(ctx, &service.GetRoundRequest{RoundId: id})
	switch {
	case status.Code(err) == codes.NotFound && id == "":
		return standing{}, because(errNotFound, "round_id", "", "some round must be open")
	case status.Code(err) == codes.NotFound:
		return standing{}, because(errNotFound, "round_id", id, "must be a round of the server")
	case err != nil:
		return standing{}, fmt.Errorf("%w: %v", errNoServer, err)
	}
	st := resp.GetStatus()
	r, err := fl.RoundFromProto(st.GetRound())
	if err == nil && id != "" && r.ID != id {
		err = fl.Invalid("id", r.ID, "must be %q, as asked for", id)
	}
	digest := [32]byte{}
	if err == nil {
		digest, err = r.Digest()
	}
	if err != nil {
		return standing{}, fmt.Errorf("%w: its round cannot be used: %v", errNoServer, err)
	}
	proof := resp.GetLogProof()
	if len(proof) > translog.MaxProofBytes {
		proof = nil // which is no proof to anybody
	}
	return standing{round: r, digest: digest, state: st.GetState(), reports: st.GetReports(), closing: st.GetClosing(), proof: proof}, nil
}

// transient reports whether a call to the server may succeed when it is made again as it is.
func transient(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Canceled, codes.Unknown, codes.Internal:
		return !errors.Is(err, context.Canceled)
	}
	return false
}
