package issuer

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hushgrad/hushgrad/server/journal"
)

func TestConfigsAreRefused(t *testing.T) {
	j := journal.NewMemory()
	for param, cfg := range map[string]Config{
		"Journal": {}, "MaxKeys": {Journal: j, MaxKeys: -1}, "MaxWaiting": {Journal: j, MaxWaiting: -1},
		"OHTTPKeys":      {Journal: j, OHTTPKeys: []string{"no key"}},
		"HTTPOrigins[0]": {Journal: j, HTTPOrigins: []string{"http://example.org"}},
	} {
		_, err := New(cfg)
		wantError(t, param, err, nil, param)
	}
}

func TestCreateKeyRefuses(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	i := start(t, Config{Journal: journal.NewMemory(), MaxKeys: 2, Now: func() time.Time { return now }})
	for name, c := range map[string]struct {
		id      string
		expires time.Time
		param   string
	}{
		"no id":      {"", time.Time{}, "round_id"},
		"a slash":    {"a/b", time.Time{}, "round_id"},
		"a long id":  {strings.Repeat("a", 65), time.Time{}, "round_id"},
		"the past":   {"r1", now.Add(-1), "expires"},
		"now":        {"r1", now, "expires"},
		"far future": {"r1", now.Add(MaxLife + 1), "expires"},
	} {
		_, err := i.CreateKey(t.Context(), c.id, c.expires)
		wantError(t, name, err, nil, c.param)
	}
	end := now.Add(MaxLife)
	k, err := i.CreateKey(t.Context(), "r1", end)
	if err != nil || !k.Expires.Equal(end) {
		t.Fatalf("%+v, %v", k, err)
	}
	for _, expires := range []time.Time{end, {}} { // asked for again
		if again, err := i.CreateKey(t.Context(), "r1", expires); err != nil || !bytes.Equal(again.PublicKey, k.PublicKey) || !again.Expires.Equal(end) {
			t.Errorf("asked for again with %v: %+v, %v, want the same key", expires, again, err)
		}
	}
	_, err = i.CreateKey(t.Context(), "r1", end.Add(-1))
	wantError(t, "another expiry", err, ErrOtherExpiry, "expires")
	if k := createKey(t, i, "r2"); !k.Expires.Equal(now.Add(DefaultLife)) {
		t.Errorf("the key expires at %v", k.Expires)
	}
	_, err = i.CreateKey(t.Context(), "r3", time.Time{})
	wantError(t, "a round too many", err, ErrLimit, "round_id")
	if err := i.DropKey("r1"); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	i.creating <- struct{}{} // another call is making a key
	_, err = i.CreateKey(ended, "r3", time.Time{})
	wantError(t, "an ended context", err, context.Canceled, "")
	<-i.creating
	createKey(t, i, "r3")
}

// A key that has ended signs nothing, and nothing of it stays: neither its private half nor who
// had a token.
func TestKeysEnd(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	j := journal.NewMemory()
	cfg := Config{Journal: j, Now: func() time.Time { return now }}
	i := start(t, cfg)
	expiring, dropped, staying := createKey(t, i, "a"), createKey(t, i, "a.b"), createKey(t, i, "a0")
	for _, k := range []KeyInfo{expiring, dropped, staying} {
		mustAnswer(t, i, "anna", ask(t, k, [32]byte{1}))
	}
	if err := i.DropKey("a.b"); err != nil {
		t.Fatal(err)
	}
	wantError(t, "dropped twice", i.DropKey("a.b"), ErrNoKey, "round_id")
	_, err := i.answer(t, "bert", ask(t, dropped, [32]byte{1}))
	wantError(t, "a dropped key", err, ErrNoKey, "token_key_id")
	if err := i.DropKey("a"); err != nil {
		t.Fatal(err)
	}
	soon, err := i.CreateKey(t.Context(), "a", now.Add(time.Hour))
	if err != nil || bytes.Equal(soon.PublicKey, expiring.PublicKey) {
		t.Fatalf("a new key after a dropped one: %v, the same: %t", err, bytes.Equal(soon.PublicKey, expiring.PublicKey))
	}
	r := ask(t, soon, [32]byte{1})
	now = now.Add(time.Hour - 1)
	mustAnswer(t, i, "anna", r)
	now = now.Add(1)
	_, err = i.answer(t, "anna", r)
	wantError(t, "an expired key", err, ErrNoKey, "token_key_id")
	if keys := i.Keys(); len(keys) != 1 || keys[0].RoundID != "a0" || keys[0].Issued != 1 {
		t.Errorf("keys %+v, want a0 with one token", keys)
	}
	if left := contents(t, j); len(left) != 2 || left[0] != keyPrefix+"a0" || !strings.HasPrefix(left[1], tokenPrefix) {
		t.Errorf("the journal has %q, want one key and one token", left)
	}
	i.Close()
	if keys := start(t, cfg).Keys(); len(keys) != 1 || keys[0].RoundID != "a0" || !keys[0].Expires.Equal(staying.Expires) {
		t.Errorf("after a restart: keys %+v", keys)
	}
}

// A key that is dropped while clients ask leaves no record behind.
func TestKeysAreDroppedUnderLoad(t *testing.T) {
	j := journal.NewMemory()
	i := start(t, Config{Journal: j})
	k := createKey(t, i, "r1")
	done := make(chan int)
	for c := range 4 {
		go func() {
			n := 0
			for ; n < 1000; n++ {
				if _, err := i.answer(t, fmt.Sprint(c, " ", n), ask(t, k, [32]byte{1})); err != nil {
					break
				}
			}
			done <- n
		}()
	}
	time.Sleep(30 * time.Millisecond)
	if err := i.DropKey("r1"); err != nil {
		t.Error(err)
	}
	for range 4 {
		<-done
	}
	if left := contents(t, j); len(left) != 0 {
		t.Errorf("the journal has %q", left)
	}
}

func damagedRecords(t testing.TB) (good []byte, bad map[string][]byte) {
	var private pair
	for i, j := 0, journal.NewMemory(); i < len(private); i++ {
		var err error
		if private[i], err = madeKey(j); err != nil {
			t.Fatal(err)
		}
	}
	k, err := newKey("r1", time.Now(), private)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(change func(*record)) []byte {
		r := k.record
		change(&r)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	return encode(func(*record) {}), map[string][]byte{
		"key":      []byte("{"),
		"version":  encode(func(r *record) { r.Version = 1 }),
		"round_id": encode(func(r *record) { r.RoundID = "a/b" }),
		"private":  encode(func(r *record) { r.Private = r.Private[1:] }),
		"outer":    encode(func(r *record) { r.Outer = r.Private }),
		"owners":   encode(func(r *record) { r.Owners = r.Owners[1:] }),
	}
}

func TestDamagedRecordsAreRefused(t *testing.T) {
	good, bad := damagedRecords(t)
	open := func(name string, data []byte) error {
		j := journal.NewMemory()
		var b journal.Batch
		b.Put([]byte(keyPrefix+name), data)
		if err := j.Commit(&b); err != nil {
			t.Fatal(err)
		}
		i, err := New(Config{Journal: j})
		if err == nil {
			i.Close()
		}
		return err
	}
	if err := open("r1", good); err != nil {
		t.Errorf("a good record: %v", err)
	}
	wantError(t, "another round's place", open("r2", good), nil, "round_id")
	for param, data := range bad {
		wantError(t, param, open("r1", data), nil, param)
	}
}

func FuzzRecord(f *testing.F) {
	good, bad := damagedRecords(f)
	f.Add(good)
	for _, data := range bad {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := parseRecord(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(k.record)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := parseRecord(again); err != nil || same.inner.id != k.inner.id || same.outer.id != k.outer.id {
			t.Fatalf("%q comes back as another key, %v", data, err)
		}
	})
}

// A pair is made when it is needed, and the next one when the clients of the round have had the processor for a while.
func TestTheNextKeysAreMadeAheadOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int32
		pairs := newSpare()
		ctx, stop := context.WithCancel(t.Context())
		var filling sync.WaitGroup
		filling.Go(func() {
			pairs.fill(ctx, func() (*rsa.PrivateKey, error) { made.Add(1); return &rsa.PrivateKey{}, nil })
		})
		want := func(keys int32) {
			t.Helper()
			if synctest.Wait(); made.Load() != keys {
				t.Errorf("%d keys were made, want %d", made.Load(), keys)
			}
		}
		want(0)
		for _, keys := range []int32{2, 4} { // at once, and ahead of time
			if _, err := pairs.take(ctx); err != nil {
				t.Fatal(err)
			}
			want(keys)
			if keys == 2 {
				time.Sleep(quiet)
				want(4)
				time.Sleep(10 * quiet)
				want(4)
			}
		}
		stop()
		filling.Wait()
		if _, err := pairs.take(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	})
}
