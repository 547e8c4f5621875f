package issuer

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/journal"
)

// made are private keys for all tests: each takes a tenth of a second. used is how many of them the
// issuers on a journal have had: no two rounds of theirs have one key.
var made = struct {
	sync.Mutex
	keys []*rsa.PrivateKey
	used map[journal.Journal]int
}{used: map[journal.Journal]int{}}

func madeKey(j journal.Journal) (*rsa.PrivateKey, error) {
	made.Lock()
	defer made.Unlock()
	n := made.used[j]
	if n == len(made.keys) {
		private, err := rsa.GenerateKey(rand.Reader, admit.KeyBits)
		if err != nil {
			return nil, err
		}
		made.keys = append(made.keys, private)
	}
	made.used[j]++
	return made.keys[n], nil
}

// start starts an issuer with keys that are made already. The processes of TestAKilledIssuerGivesOneToken
// make their own.
func start(t testing.TB, cfg Config) *Issuer {
	t.Helper()
	cfg.NewKey = func() (*rsa.PrivateKey, error) { return madeKey(cfg.Journal) }
	cfg.Logger = slog.New(slog.DiscardHandler)
	i, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

func createKey(t testing.TB, i *Issuer, roundID string) KeyInfo {
	t.Helper()
	k, err := i.CreateKey(t.Context(), roundID, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ask returns a fresh request under a key.
func ask(t testing.TB, k KeyInfo, digest [32]byte) *admit.Request {
	t.Helper()
	r, err := admit.NewRequest(k.PublicKey, digest)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// issueOne has one message signed.
func (i *Issuer) issueOne(ctx context.Context, identity string, id [32]byte, blinded []byte) ([]byte, error) {
	answers, err := i.Issue(ctx, identity, Message{id, blinded})
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

func (i *Issuer) answer(t testing.TB, identity string, r *admit.Request) ([]byte, error) {
	t.Helper()
	return i.issueOne(t.Context(), identity, r.KeyID(), r.BlindedMessage())
}

func mustAnswer(t testing.TB, i *Issuer, identity string, r *admit.Request) []byte {
	t.Helper()
	answer, err := i.answer(t, identity, r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// wantError checks that an error wraps target and names a parameter, each unless empty.
func wantError(t *testing.T, what string, err, target error, param string) {
	t.Helper()
	var p *fl.ParamError
	if err == nil || target != nil && !errors.Is(err, target) || param != "" && (!errors.As(err, &p) || p.Param != param) {
		t.Errorf("%s: got error %v, want %v for %q", what, err, target, param)
	}
}

// contents is everything below the issuer's prefix.
func contents(t *testing.T, j journal.Journal) (keys []string) {
	t.Helper()
	for p, err := range j.Scan([]byte("issuer/"), journal.After([]byte("issuer/"))) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(p.Key))
	}
	return keys
}

func TestAClientHasOneTokenUnderAKey(t *testing.T) {
	j := journal.NewMemory()
	i := start(t, Config{Journal: j})
	k, digest := createKey(t, i, "r1"), [32]byte{1}
	first, second := ask(t, k, digest), ask(t, k, digest)
	answer := mustAnswer(t, i, "anna", first)
	token, err := first.Finalize(answer)
	if err != nil {
		t.Fatal(err)
	}
	v, err := admit.NewVerifier(k.PublicKey, digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(token); err != nil {
		t.Error(err)
	}
	for range 2 { // here, and after a restart
		for range 3 {
			if again := mustAnswer(t, i, "anna", first); !bytes.Equal(again, answer) {
				t.Error("the same message got another signature")
			}
			_, err := i.answer(t, "anna", second)
			wantError(t, "another message", err, ErrIssued, "blinded_message")
		}
		if keys := i.Keys(); len(keys) != 1 || keys[0].Issued != 1 {
			t.Errorf("keys %+v, want one with one token", keys)
		}
		i.Close()
		i = start(t, Config{Journal: j})
	}
	if bytes.Equal(mustAnswer(t, i, "bert", second), answer) {
		t.Error("two messages got one signature")
	}
	other := createKey(t, i, "r2")
	if bytes.Equal(other.PublicKey, k.PublicKey) {
		t.Error("two rounds have one key")
	}
	mustAnswer(t, i, "anna", ask(t, other, [32]byte{2}))
	keys := i.Keys()
	if len(keys) != 2 || keys[0].RoundID != "r1" || keys[0].Issued != 2 || keys[1].RoundID != "r2" || keys[1].Issued != 1 {
		t.Errorf("keys %+v, want r1 with two tokens and r2 with one", keys)
	}
	for _, name := range contents(t, j) {
		if strings.Contains(name, "anna") || strings.Contains(name, "bert") {
			t.Errorf("%q names a client", name)
		}
	}
}

// A client gets a token under each of the round's two keys, and one. Each verifies under its own key alone.
// Nothing about either of them stays when the keys are dropped.
func TestAClientHasOneTokenUnderEachKeyOfARound(t *testing.T) {
	j := journal.NewMemory()
	i := start(t, Config{Journal: j})
	k, digest := createKey(t, i, "r1"), [32]byte{1}
	keys := [][]byte{k.PublicKey, k.OuterPublicKey}
	for range 2 { // before and after a restart
		for n, key := range keys {
			request, err := admit.NewRequest(key, digest)
			if err != nil {
				t.Fatal(err)
			}
			token, err := request.Finalize(mustAnswer(t, i, fmt.Sprint("client ", i.Keys()[0].Issued, n), request))
			if err != nil {
				t.Fatal(err)
			}
			for other, key := range keys {
				v, err := admit.NewVerifier(key, digest)
				if err != nil {
					t.Fatal(err)
				}
				if err := v.Verify(token); (err == nil) != (other == n) {
					t.Errorf("the token under key %d at the one with key %d: %v", n, other, err)
				}
			}
		}
		i.Close()
		i = start(t, Config{Journal: j})
	}
	outer := KeyInfo{PublicKey: k.OuterPublicKey}
	mustAnswer(t, i, "anna", ask(t, k, digest))
	mustAnswer(t, i, "anna", ask(t, outer, digest))
	_, err := i.answer(t, "anna", ask(t, outer, digest))
	wantError(t, "a second token under the outer key", err, ErrIssued, "blinded_message")
	if info := i.Keys()[0]; info.Issued != 3 || !bytes.Equal(info.OuterPublicKey, k.OuterPublicKey) {
		t.Errorf("%+v, want 3 clients and the same keys", info)
	}
	if err := i.DropKey("r1"); err != nil {
		t.Fatal(err)
	}
	_, err = i.answer(t, "bert", ask(t, outer, digest))
	wantError(t, "a dropped outer key", err, ErrNoKey, "token_key_id")
	if left := contents(t, j); len(left) > 0 {
		t.Errorf("the journal has %q", left)
	}
}

// A client that asks at many doors at once with as many messages has one of them signed.
func TestManyCallsAtOnceGetOneToken(t *testing.T) {
	i := start(t, Config{Journal: journal.NewMemory()})
	k := createKey(t, i, "r1")
	for round := range 5 {
		client := fmt.Sprint("client", round)
		var signed atomic.Int64
		var wg sync.WaitGroup
		for range 16 {
			r := ask(t, k, [32]byte{1})
			wg.Go(func() {
				switch _, err := i.answer(t, client, r); {
				case err == nil:
					signed.Add(1)
				case !errors.Is(err, ErrIssued) && !errors.Is(err, ErrBusy):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if signed.Load() != 1 {
			t.Errorf("%s had %d messages signed", client, signed.Load())
		}
	}
	if n := i.Keys()[0].Issued; n != 5 {
		t.Errorf("%d tokens issued, want 5", n)
	}
}

// broken is a journal whose commits fail, before or after they are made.
type broken struct {
	journal.Journal
	before, after error
}

func (b *broken) Commit(batch *journal.Batch) error {
	if b.before != nil {
		return b.before
	}
	if err := b.Journal.Commit(batch); err != nil {
		return err
	}
	return b.after
}

// When there is no room nothing is signed, and when there is room again it goes on.
func TestAFullDiskSignsNothing(t *testing.T) {
	j := &broken{Journal: journal.NewMemory()}
	i := start(t, Config{Journal: j})
	k := createKey(t, i, "r1")
	j.before = fmt.Errorf("3 bytes left: %w", journal.ErrFull)
	answer, err := i.answer(t, "anna", ask(t, k, [32]byte{1}))
	if wantError(t, "issue", err, journal.ErrFull, ""); answer != nil {
		t.Error("a signature came with the error")
	}
	_, err = i.CreateKey(t.Context(), "r2", time.Time{})
	wantError(t, "create", err, journal.ErrFull, "")
	wantError(t, "drop", i.DropKey("r1"), journal.ErrFull, "")
	j.before = nil
	mustAnswer(t, i, "anna", ask(t, k, [32]byte{1})) // another message: the first was not signed
	if keys := i.Keys(); len(keys) != 1 || keys[0].Issued != 1 {
		t.Errorf("keys %+v, want r1 with one token", keys)
	}
}

// After a write that may have been made or not, nothing is signed. The next issuer on the journal
// knows which message has the token.
func TestAFailedWriteStopsTheIssuer(t *testing.T) {
	j := &broken{Journal: journal.NewMemory()}
	i := start(t, Config{Journal: j})
	k := createKey(t, i, "r1")
	lost, other := ask(t, k, [32]byte{1}), ask(t, k, [32]byte{1})
	j.after = errors.New("input/output error")
	_, err := i.answer(t, "anna", lost)
	wantError(t, "the write", err, journal.ErrFailed, "")
	j.after = nil
	select {
	case <-i.Failed():
	default:
		t.Error("the issuer does not say that it has failed")
	}
	for _, r := range []*admit.Request{lost, other} {
		_, err := i.answer(t, "anna", r)
		wantError(t, "later", err, journal.ErrFailed, "")
	}
	_, err = i.CreateKey(t.Context(), "r2", time.Time{})
	wantError(t, "create", err, journal.ErrFailed, "")
	wantError(t, "drop", i.DropKey("r1"), journal.ErrFailed, "")
	again := start(t, Config{Journal: j})
	_, err = again.answer(t, "anna", other)
	wantError(t, "another message", err, ErrIssued, "")
	if _, err := lost.Finalize(mustAnswer(t, again, "anna", lost)); err != nil {
		t.Error(err)
	}
}

func TestIssueRefuses(t *testing.T) {
	i := start(t, Config{Journal: journal.NewMemory()})
	k := createKey(t, i, "r1")
	id, good := admit.KeyID(k.PublicKey), ask(t, k, [32]byte{1}).BlindedMessage()
	for name, c := range map[string]struct {
		identity string
		id       [32]byte
		blinded  []byte
		target   error
		param    string
	}{
		"no identity":       {"", id, good, nil, "identity"},
		"a long identity":   {strings.Repeat("x", MaxIdentityBytes+1), id, good, nil, "identity"},
		"another key":       {"anna", [32]byte{1}, good, ErrNoKey, "token_key_id"},
		"nothing":           {"anna", id, nil, nil, "blinded_message"},
		"a short message":   {"anna", id, good[1:], nil, "blinded_message"},
		"a long message":    {"anna", id, append([]byte{0}, good...), nil, "blinded_message"},
		"zero":              {"anna", id, make([]byte, 256), nil, "blinded_message"},
		"above the modulus": {"anna", id, bytes.Repeat([]byte{0xFF}, 256), nil, "blinded_message"},
	} {
		_, err := i.issueOne(t.Context(), c.identity, c.id, c.blinded)
		wantError(t, name, err, c.target, c.param)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := i.signing.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	_, err := i.issueOne(ended, "anna", id, good)
	wantError(t, "an ended context", err, context.Canceled, "")
	i.signing.Release(1)
	if n := i.Keys()[0].Issued; n != 0 {
		t.Errorf("%d tokens were counted", n)
	}
	if _, err := i.issueOne(t.Context(), strings.Repeat("x", MaxIdentityBytes), id, good); err != nil {
		t.Errorf("the longest identity: %v", err)
	}
}

// One client holds one place among those that wait, and the places have an end.
func TestCallsInProgressAreBounded(t *testing.T) {
	i := start(t, Config{Journal: journal.NewMemory(), MaxWaiting: 3})
	messages := func(clients ...byte) (out []*signing) {
		for _, n := range clients {
			out = append(out, &signing{client: owner{n}})
		}
		return out
	}
	for n := range byte(3) {
		wantError(t, "as many as four", i.enter(messages(n, 10, 11, 12)), ErrBusy, "")
		if err := i.enter(messages(n)); err != nil {
			t.Fatal(err)
		}
		wantError(t, "the same client", i.enter(messages(n)), ErrBusy, "")
	}
	wantError(t, "the fourth", i.enter(messages(4)), ErrBusy, "")
	i.leave(messages(1, 2))
	wantError(t, "one of two in progress", i.enter(messages(4, 0)), ErrBusy, "")
	if err := i.enter(messages(4, 5)); err != nil {
		t.Error(err)
	}
}

// crowded is a journal on a disk that somebody else has filled.
type crowded struct{ journal.Journal }

// Room implements journal.Roomy.
func (crowded) Room() error { return journal.ErrFull }

// An issuer whose disk is full is not ready before it has refused a token.
func TestAnIssuerOnAFullDiskIsNeverReady(t *testing.T) {
	i, err := New(Config{Journal: crowded{journal.NewMemory()}, Admit: func(context.Context) (string, error) { return "anna", nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if err := i.Ready(); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got %v", err)
	}
}
