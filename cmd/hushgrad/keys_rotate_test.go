package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
)

// listedKeys are the keys of a server by their states.
func listedKeys(t *testing.T, dir string) map[string]seal.Fingerprint {
	t.Helper()
	var listed []listedKey
	if err := json.Unmarshal([]byte(printed(t, "serve", "keys", "--seal-keys", dir, "-o", "json")), &listed); err != nil {
		t.Fatal(err)
	}
	states := map[string]seal.Fingerprint{}
	for _, key := range listed {
		f, err := seal.ParseFingerprint(key.Fingerprint)
		if err != nil {
			t.Fatal(err)
		}
		states[key.State] = f
	}
	return states
}

// A server's key is rotated while clients send, by real processes that nobody restarts: a round from before opens its reports with
// the old key, a new round has the new one, no report is lost, and the old key is gone when the old round has ended.
func TestARotationLosesNothing(t *testing.T) {
	t.Parallel()
	keys := filepath.Join(t.TempDir(), "keys")
	operators, listener, shuffler := freeAddress(t), freeAddress(t), freeAddress(t)
	startCommand(t, "serve", "--listen", freeAddress(t), "--operator-listen", operators, "--shuffler-listen", listener, "--seal-keys", keys)
	startCommand(t, "shuffle", "--listen", shuffler, "--name", "shuffler.test", "--upstream", listener, "--floor", "2")
	operator := client.NewOperator(dialServe(t, operators))
	open := func(id string) (r fl.Round) {
		t.Helper()
		untilAvailable(t, func() (err error) {
			r, err = operator.OpenRound(t.Context(), fl.Round{ID: id, Mechanism: "coco", Dim: 4, Scale: 1, Epsilon: 1, MinReports: 2, Params: fl.Params{"sparsity": fl.Int(2)}, Shuffler: "shuffler.test"})
			return err
		})
		return r
	}
	first := open("before")
	old := seal.FingerprintOf(first.SealKey)
	printed(t, "serve", "keys", "rotate", "--seal-keys", keys, "--after", "1s")
	pending := listedKeys(t, keys)
	if pending[activeKey] != old && pending[expiredKey] != old {
		t.Errorf("keys %v, and %v is in a round", pending, old)
	}
	// Both keys are pinned, by one client that is not restarted.
	var pins [][32]byte
	for _, f := range pending {
		pins = append(pins, f)
	}
	if len(pins) != 2 {
		t.Fatalf("keys %v, want two", pending)
	}
	c, err := client.New(dialServe(t, shuffler), client.Options{Policy: fl.Policy{Shuffled: &fl.ShuffledPolicy{
		Shufflers: []string{"shuffler.test"}, SealKeys: pins, MaxEpsilonLocal: 1, MaxEpsilon: 1, MaxDelta: 1e-6,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	report := func(id string) {
		t.Helper()
		var p *client.Participation
		untilAvailable(t, func() (err error) { p, err = c.Join(t.Context(), id); return err })
		text, err := p.Encode(nil, make([]float64, 4), nil)
		if err == nil {
			_, err = p.Submit(t.Context(), [][]byte{text})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sent := 0
	for listedKeys(t, keys)[activeKey] == old {
		report("before")
		sent++
		time.Sleep(10 * time.Millisecond)
	}
	second := open("after")
	if now := seal.FingerprintOf(second.SealKey); now == old {
		t.Errorf("after the rotation a round has the old key")
	}
	for _, id := range []string{"after", "before", "after", "before"} {
		report(id)
	}
	sent += 2
	if states := listedKeys(t, keys); states[expiredKey] != old || states[activeKey] != seal.FingerprintOf(second.SealKey) {
		t.Errorf("while the old round is open: %v", states)
	}
	for id, want := range map[string]int64{"after": 2, "before": int64(sent)} {
		if err := operator.CloseRound(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if e, err := operator.Estimate(t.Context(), id, true); err != nil || e.Reports != want {
			t.Errorf("round %s: %+v, %v, want %d reports", id, e, err, want)
		}
	}
	for end := time.Now().Add(20 * time.Second); len(listedKeys(t, keys)) > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the old key stays: %v", listedKeys(t, keys))
		}
	}
	if files, err := filepath.Glob(filepath.Join(keys, "*")); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v", files, err)
	}
}
