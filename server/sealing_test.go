package server_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/seal"
)

func TestRoundsWithAShufflerNeedAKeyOfTheServer(t *testing.T) {
	keys, foreign := newKeys(t), newKeys(t)
	newest, err := keys.Newest()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := foreign.Newest()
	if err != nil {
		t.Fatal(err)
	}
	without, with := start(t, server.Config{}), start(t, server.Config{Seal: keys})
	named := shuffled(cocoRound("named"))
	named.SealKey = newest.Public()
	unknown := shuffled(cocoRound("unknown"))
	unknown.SealKey = theirs.Public()
	broken := shuffled(cocoRound("broken"))
	broken.SealKey = []byte{1}
	for what, c := range map[string]struct {
		p     *peers
		r     fl.Round
		field string
	}{
		"no keys":     {without, shuffled(cocoRound("r")), "round.shuffler"},
		"unknown key": {with, unknown, "round.seal_key"},
		"broken key":  {with, broken, "round.seal_key"},
		"two servers": {with, fl.Round{ID: "two", Mechanism: "gaussian-shares", Dim: 8, Scale: 1, Epsilon: 1, Delta: 1e-6, MinReports: 2}, "round.mechanism"},
	} {
		_, err := c.p.operator.OpenRound(t.Context(), c.r)
		wantField(t, what, errors.Unwrap(err), codes.InvalidArgument, c.field)
	}
	if r := open(t, with, shuffled(cocoRound("r"))); !bytes.Equal(r.SealKey, newest.Public()) {
		t.Errorf("the round has the key %s, want the newest", seal.FingerprintOf(r.SealKey))
	}
	open(t, with, named)
}

// A round goes on with its key when there is a newer one, and not without it.
func TestARoundOutlivesTheRotationOfKeysAndNotItsKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	keys, err := seal.OpenKeys(dir, seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{Journal: journal.NewMemory(), Seal: keys}
	p := start(t, cfg)
	r := open(t, p, shuffled(cocoRound("r")))
	all := sealed(t, r, made(t, r, 4)...)
	forwardGood(t, p, r, all[:2]...)
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Add(seal.Hybrid); err != nil {
		t.Fatal(err)
	}
	p = start(t, cfg)
	forwardGood(t, p, r, all...)
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	fingerprint := seal.FingerprintOf(r.SealKey).String()
	if err := os.Remove(filepath.Join(dir, fingerprint[:16]+".key")); err != nil {
		t.Fatal(err)
	}
	for what, cfg := range map[string]server.Config{"without the key": cfg, "without keys": {Journal: cfg.Journal}} {
		if _, err := server.New(cfg); !errors.Is(err, seal.ErrNoKey) || !strings.Contains(err.Error(), fingerprint) || !strings.Contains(err.Error(), `"r"`) {
			t.Errorf("%s: %v, want an error that names the round and the fingerprint", what, err)
		}
	}
}
