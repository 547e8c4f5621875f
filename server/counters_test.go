package server_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/journal"
)

// elsewhere are counters that have counted what the test says.
type elsewhere struct {
	mu            sync.Mutex
	opened, ended []string
	reports       [][]byte
	failure       error
	wait          bool // until the server stops
}

func (e *elsewhere) Open(_ context.Context, r fl.Round) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opened = append(e.opened, r.ID)
	return nil
}

func (e *elsewhere) Counted(fl.Round) int64 { return int64(len(e.reports)) }

func (e *elsewhere) Sum(ctx context.Context, _ fl.Round, m fl.Mechanism) (fl.Aggregator, int64, error) {
	if e.wait {
		<-ctx.Done()
		return nil, 0, ctx.Err()
	}
	if e.failure != nil {
		return nil, 0, e.failure
	}
	sum := m.NewAggregator()
	return sum, int64(len(e.reports)), fl.AddBatch(m, sum, e.reports)
}

func (e *elsewhere) Shards() []server.Shard {
	return []server.Shard{{Number: 0, Reports: int64(len(e.reports))}}
}

func (e *elsewhere) End(r fl.Round) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = append(e.ended, r.ID)
}

// A server with counters releases what they have counted, and says meanwhile how much that is.
func TestAServerReleasesWhatItsCountersHave(t *testing.T) {
	counters := &elsewhere{}
	p, s := watched(t, server.Config{Seal: newKeys(t), Counters: counters})
	r := open(t, p, shuffled(cocoRound("r")))
	counters.reports = made(t, r, 7)
	if rounds, err := p.operator.Rounds(t.Context()); err != nil || rounds[0].Reports != 7 {
		t.Errorf("the open round: %v, %v", rounds, err)
	}
	if shards := s.Parameters().Overview().Shards; len(shards) != 1 || shards[0].Reports != 7 {
		t.Errorf("shards %+v, want one with 7 reports", shards)
	}
	_, err := forward(t, p, r, sealed(t, r, counters.reports...)...)
	wantCode(t, "reports to the server itself", err, codes.FailedPrecondition)
	if err := complete(t, p, r, nil); err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.operator.Estimate(t.Context(), "r", true); err != nil || !reflect.DeepEqual(got, estimateOf(t, m, counters.reports)) {
		t.Errorf("estimate %v, %v", got, err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // the counters learn of the end after the callers
		counters.mu.Lock()
		opened, ended := slices.Clone(counters.opened), slices.Clone(counters.ended)
		counters.mu.Unlock()
		if slices.Equal(opened, []string{"r"}) && slices.Equal(ended, []string{"r"}) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("opened %v, ended %v", opened, ended)
		}
	}
}

func TestCountersWithTooFewReportsOrAnErrorReleaseNothing(t *testing.T) {
	for want, counters := range map[client.RoundState]*elsewhere{
		client.RoundExpired: {},
		client.RoundFailed:  {failure: errors.New("damaged")},
	} {
		p := start(t, server.Config{Seal: newKeys(t), Counters: counters})
		description := shuffled(cocoRound("r"))
		r := open(t, p, description)
		_ = complete(t, p, r, nil)
		rounds, err := p.operator.Rounds(t.Context())
		if err != nil || rounds[0].State != want {
			t.Errorf("%v, %v, want %v", rounds, err, want)
		}
	}
}

// Rounds that nobody else could count exactly once are refused before they are opened.
func TestAServerWithCountersRefusesRounds(t *testing.T) {
	counters := &elsewhere{}
	p := start(t, server.Config{Seal: newKeys(t), Counters: counters, MaxOpenRounds: 1})
	key, err := theIssuer(t).CreateKey(t.Context(), "tokens", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	tokens := shuffled(cocoRound("tokens"))
	tokens.IssuerKey, tokens.OuterIssuerKey = key.PublicKey, key.OuterPublicKey
	for field, r := range map[string]fl.Round{
		"round.shuffler":   cocoRound("direct"),
		"round.issuer_key": tokens,
		"round.mechanism":  sharesRound("shared"),
	} {
		_, err := p.operator.OpenRound(t.Context(), r)
		wantField(t, field, errors.Unwrap(err), codes.InvalidArgument, field)
	}
	open(t, p, shuffled(cocoRound("r")))
	_, err = p.operator.OpenRound(t.Context(), shuffled(cocoRound("one-too-many")))
	wantCode(t, "one too many", errors.Unwrap(err), codes.ResourceExhausted)
	if !slices.Equal(counters.opened, []string{"r"}) {
		t.Errorf("the counters were told of %v", counters.opened)
	}
}

// A server that is started again makes its counters ready again. One that stops in the midst of a
// sum leaves the round open.
func TestCountersSurviveTheirServer(t *testing.T) {
	cfg := server.Config{Seal: newKeys(t), Journal: journal.NewMemory(), Counters: &elsewhere{wait: true}}
	p := start(t, cfg)
	r := open(t, p, shuffled(cocoRound("r")))
	completed := make(chan error, 1)
	go func() { completed <- complete(t, p, r, nil) }()
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if err := <-completed; err == nil {
		t.Error("the round was completed without a sum")
	}
	counters := &elsewhere{reports: made(t, r, 5)}
	cfg.Counters = counters
	p = start(t, cfg)
	if !slices.Equal(counters.opened, []string{"r"}) {
		t.Errorf("the counters were told of %v", counters.opened)
	}
	if err := complete(t, p, r, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := p.operator.Estimate(t.Context(), "r", true); err != nil || got.Reports != 5 {
		t.Errorf("estimate %v, %v", got, err)
	}
}
