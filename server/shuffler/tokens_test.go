package shuffler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/internal/issuer"
	"github.com/hushgrad/hushgrad/server/journal"
)

// theIssuer is an issuer in this process, one for all tests, with its keys, the same for all rounds: others
// would take it half a second.
func theIssuer(t testing.TB) (*issuer.Issuer, issuer.KeyInfo) {
	t.Helper()
	i, err := newIssuer()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := i.CreateKey(t.Context(), "all", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return i, keys
}

var newIssuer = sync.OnceValues(func() (*issuer.Issuer, error) {
	return issuer.New(issuer.Config{Journal: journal.NewMemory(), Logger: slog.New(slog.DiscardHandler)})
})

// issued fetches a client's token under a key of a round. The issuer knows the client as one of this round
// alone.
func issued(ctx context.Context, i *issuer.Issuer, name string, key []byte, digest [32]byte) ([]byte, error) {
	request, err := admit.NewRequest(key, digest)
	if err != nil {
		return nil, err
	}
	answers, err := i.Issue(ctx, fmt.Sprintf("%s of %x", name, digest), issuer.Message{KeyID: request.KeyID(), Blinded: request.BlindedMessage()})
	if err != nil {
		return nil, err
	}
	return request.Finalize(answers[0])
}

var rounds atomic.Int64 // of theIssuer

// newAdmittedRound returns a round whose clients need tokens. The shuffler does not open reports, so a test
// seals anything in place of the inner one.
func newAdmittedRound(t testing.TB, change func(*fl.Round)) *sealedRound {
	t.Helper()
	_, keys := theIssuer(t)
	return newSealedRound(t, func(r *fl.Round) {
		r.ID, r.IssuerKey, r.OuterIssuerKey = fmt.Sprint("r", rounds.Add(1)), keys.PublicKey, keys.OuterPublicKey
		if change != nil {
			change(r)
		}
	})
}

// tokens returns the outer tokens of n clients who had none before.
func (r *sealedRound) tokens(t testing.TB, n int) [][]byte {
	t.Helper()
	i, _ := theIssuer(t)
	out := make([][]byte, n)
	for at := range out {
		var err error
		if out[at], err = issued(t.Context(), i, fmt.Sprint("client ", rounds.Add(1)), r.OuterIssuerKey, r.digest); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// with returns the message of clients with tokens.
func (r *sealedRound) with(tokens [][]byte, items ...[]byte) *service.SubmitReportsRequest {
	return &service.SubmitReportsRequest{RoundId: r.ID, RoundDigest: r.digest[:], Reports: slices.Concat(items...), Tokens: slices.Concat(tokens...)}
}

// answers checks the answer to a message: a receipt, or a code other than OK.
func (p *party) answers(t testing.TB, what string, req *service.SubmitReportsRequest, accepted, duplicates int, code codes.Code) {
	t.Helper()
	got, err := sendTo(t.Context(), p.clients, req)
	if status.Code(err) != code || err == nil && (got.GetAccepted() != uint64(accepted) || got.GetDuplicates() != uint64(duplicates)) || err != nil && fieldOf(err) != "tokens" {
		t.Errorf("%s: %v, %v; want %d accepted and %d duplicates, or %v for tokens", what, got, err, accepted, duplicates, code)
	}
}

// A token brings one sealed report in, also after restarts. The same report again is a duplicate, and
// another one is refused. What is refused is not kept.
func TestATokenBringsOneReportIn(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{Secrets: t.TempDir()}, server)
	r, other := newAdmittedRound(t, nil), newAdmittedRound(t, nil)
	server.open(r.Round)
	tokens, items := r.tokens(t, 5), r.items(t, 8)
	i, _ := theIssuer(t)
	inner, err := issued(t.Context(), i, "anna", r.IssuerKey, r.digest)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(tokens[3])
	bad[len(bad)-1] ^= 1
	p.answers(t, "two clients", r.with(tokens[:2], items[:2]...), 2, 0, codes.OK)
	for range 2 {
		p.answers(t, "again", r.with(tokens[:2], items[:2]...), 0, 2, codes.OK)
		p.answers(t, "again, twice", r.with([][]byte{tokens[1], tokens[1]}, items[1], items[1]), 0, 2, codes.OK)
		for what, c := range map[string]struct {
			tokens [][]byte
			items  [][]byte
			code   codes.Code
		}{
			"another report of a client":  {tokens[:1], items[5:6], codes.AlreadyExists},
			"a new one beside it":         {[][]byte{tokens[2], tokens[0]}, items[5:7], codes.AlreadyExists},
			"one token, two reports":      {[][]byte{tokens[2], tokens[2]}, items[5:7], codes.AlreadyExists},
			"no token":                    {nil, items[5:6], codes.Unauthenticated},
			"a token too few":             {tokens[2:3], items[5:7], codes.Unauthenticated},
			"a part of a token":           {[][]byte{tokens[2][1:]}, items[5:6], codes.Unauthenticated},
			"random bytes":                {[][]byte{bytes.Repeat([]byte{7}, admit.TokenBytes)}, items[5:6], codes.Unauthenticated},
			"a changed token":             {[][]byte{bad}, items[5:6], codes.Unauthenticated},
			"a good one before a changed": {[][]byte{tokens[2], bad}, items[5:7], codes.Unauthenticated},
			"the token for the server":    {[][]byte{inner}, items[5:6], codes.Unauthenticated},
			"another round's token":       {other.tokens(t, 1), items[5:6], codes.Unauthenticated},
		} {
			p.answers(t, what, r.with(c.tokens, c.items...), 0, 0, c.code)
		}
		if held := p.known(r.ID).held.Load(); held != 2 {
			t.Fatalf("%d reports are held, want 2", held)
		}
		p = p.again(t)
	}
	p.answers(t, "the others", r.with(tokens[2:], items[2:5]...), 3, 0, codes.OK)
	server.close(r.ID)
	p.gone(t, r.ID, forwarded)
	sealed, _ := server.got()
	sameReports(t, r, sealed, items[:5])
}

// slow starts a shuffler that has begun a round, and whose journal does not take its first message before finish
// is called, which returns the answer to that message.
func slow(t *testing.T, cfg Config, r *sealedRound, tokens, items [][]byte) (begun *round, finish func() error) {
	t.Helper()
	kept := &slowJournal{Journal: journal.NewMemory(), opened: make(chan struct{})}
	cfg.Journal, cfg.every = kept, time.Hour
	server := newRecorder()
	p := start(t, cfg, server)
	server.open(r.Round)
	if _, err := p.find(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	begun = p.known(r.ID)
	time.Sleep(20 * time.Millisecond) // for the watcher's look, which would hold up what follows
	first := make(chan error, 1)
	kept.mu.Lock()
	kept.wait = true
	kept.mu.Unlock()
	go func() {
		_, err := begun.submit(t.Context(), slices.Concat(items...), slices.Concat(tokens...))
		first <- err
	}()
	eventually(t, "the first message", func() bool {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		return kept.inside == 1
	})
	return begun, func() error {
		kept.mu.Lock()
		if kept.inside == 1 { // the second commit would have opened it
			close(kept.opened)
		}
		kept.wait = false
		kept.mu.Unlock()
		return <-first
	}
}

// A report with a token that another one is about to spend waits until that one is kept, and is refused then.
func TestATokenIsSpentByOneOfTwoCalls(t *testing.T) {
	r := newAdmittedRound(t, nil)
	tokens, items := r.tokens(t, 1), r.items(t, 2)
	begun, finish := slow(t, Config{}, r, tokens, items[:1])
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := begun.submit(ctx, items[1], tokens[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before the first is kept: %+v, %v", got, err)
	}
	if err := finish(); err != nil {
		t.Error(err)
	}
	if got, err := begun.submit(t.Context(), items[1], tokens[0]); !errors.Is(err, errSpent) {
		t.Errorf("afterwards: %+v, %v", got, err)
	}
}

// The limit counts reports that are on their way to the disk.
func TestReportsOnTheirWayAreCounted(t *testing.T) {
	r := newSealedRound(t, func(r *fl.Round) { r.MinReports = 2 })
	items := r.items(t, 4)
	begun, finish := slow(t, Config{MaxReports: 3}, r, nil, items[:2])
	second := make(chan error, 1)
	go func() {
		_, err := begun.submit(t.Context(), slices.Concat(items[2:]...), nil)
		second <- err
	}()
	time.Sleep(20 * time.Millisecond) // to be there before the first is kept
	if err := finish(); err != nil {
		t.Error(err)
	}
	if err := <-second; !errors.Is(err, errLimit) {
		t.Errorf("two more of three: %v", err)
	}
	if got, err := begun.submit(t.Context(), items[2], nil); err != nil || got.accepted != 1 {
		t.Errorf("the third: %+v, %v", got, err)
	}
}

// min_reports, target_reports and the floor count admitted clients: bytes that anybody makes up reach no
// target. That holds for a second server, too, whose sum would else hide fewer clients.
func TestTargetsCountAdmittedClients(t *testing.T) {
	for name, change := range map[string]func(*fl.Round){
		"one server": nil,
		"two servers": func(r *fl.Round) {
			r.Mechanism, r.Delta, r.Params = hdsum.SharesName, 1e-6, nil
		},
	} {
		server := newRecorder()
		p := start(t, Config{Floor: 6}, server)
		r := newAdmittedRound(t, func(r *fl.Round) {
			if change != nil {
				change(r)
			}
			r.TargetReports = 6
		})
		server.open(r.Round)
		tokens, items := r.tokens(t, 6), r.items(t, 6)
		junk := bytes.Repeat([]byte{7}, 1000*r.format.Item())
		p.answers(t, name+": random bytes", r.with(nil, junk), 0, 0, codes.Unauthenticated)
		p.answers(t, name+": with random tokens", r.with([][]byte{bytes.Repeat([]byte{7}, 1000*admit.TokenBytes)}, junk), 0, 0, codes.Unauthenticated)
		p.answers(t, name+": five clients", r.with(tokens[:5], items[:5]...), 5, 0, codes.OK)
		p.look(t, r)
		if held := p.known(r.ID).held.Load(); held != 5 || server.callsNow() > 0 {
			t.Errorf("%s: %d reports are held and %d calls forward, want 5 and none", name, held, server.callsNow())
		}
		p.answers(t, name+": the sixth", r.with(tokens[5:], items[5]), 1, 0, codes.OK)
		p.gone(t, r.ID, forwarded)
		sealed, _ := server.got()
		sameReports(t, r, sealed, items)
	}
}

// Without tokens whoever reaches the shuffler fills its disk up to a limit, and not beyond it: not with
// many calls at the same time, and not after a restart.
func TestRoundsWithoutTokensAreBounded(t *testing.T) {
	server := newRecorder()
	p := start(t, Config{Secrets: t.TempDir(), MaxReports: 20}, server)
	r := newSealedRound(t, nil)
	large := newSealedRound(t, func(r *fl.Round) { r.ID, r.TargetReports = "large", 21 })
	server.open(r.Round)
	server.open(large.Round)
	items := r.items(t, 64)
	var calls sync.WaitGroup
	var accepted atomic.Int64
	for i := range 16 {
		calls.Go(func() {
			switch got, err := p.send(t.Context(), r, items[4*i:4*i+4]...); status.Code(err) {
			case codes.OK:
				accepted.Add(int64(got.GetAccepted()))
			case codes.ResourceExhausted:
				if !strings.Contains(err.Error(), "--max-reports") {
					t.Errorf("%v does not say what to type", err)
				}
			default:
				t.Error(err)
			}
		})
	}
	calls.Wait()
	for range 2 {
		if held := p.known("r").held.Load(); held != 20 || accepted.Load() != 20 {
			t.Errorf("%d reports are held, %d accepted, want 20", held, accepted.Load())
		}
		p.refuses(t, "one more", codes.ResourceExhausted, r, r.items(t, 1)...)
		p = p.again(t)
	}
	p.refuses(t, "a round that can never have its target", codes.FailedPrecondition, large, large.items(t, 1)...)
	admitted := newAdmittedRound(t, nil)
	server.open(admitted.Round)
	p.answers(t, "tokens bound a round", admitted.with(admitted.tokens(t, 21), admitted.items(t, 21)...), 21, 0, codes.OK)
}

// Who watches a shuffler learns that somebody tries to bring reports in. A flood of bad tokens does not
// fill the log.
func TestRefusedTokensAreSeen(t *testing.T) {
	server, figures := newRecorder(), prometheus.NewRegistry()
	var log bytes.Buffer
	p := start(t, Config{Metrics: figures, Logger: slog.New(slog.NewTextHandler(&log, nil))}, server)
	r := newAdmittedRound(t, nil)
	server.open(r.Round)
	token, items := r.tokens(t, 1), r.items(t, 2)
	p.answers(t, "a client", r.with(token, items[0]), 1, 0, codes.OK)
	for range 3 {
		p.answers(t, "a spent token", r.with(token, items[1]), 0, 0, codes.AlreadyExists)
	}
	for range 20 {
		p.answers(t, "a bad token", r.with([][]byte{make([]byte, admit.TokenBytes)}, items[1]), 0, 0, codes.Unauthenticated)
	}
	p.answers(t, "no token", r.with(nil, items[1]), 0, 0, codes.Unauthenticated)
	p.Close()
	got := figuresOf(t, figures)
	for _, want := range []string{"refused_tokens_total{bad} 21", "refused_tokens_total{spent} 3"} {
		if !slices.Contains(got, "hushgrad_shuffler_"+want) {
			t.Errorf("no %q among %q", want, got)
		}
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 2 { // the first and the tenth
		t.Errorf("%d warnings, want 2: %s", n, &log)
	}
}
