package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
)

// snapshot returns a copy of a journal.
func snapshot(t *testing.T, j journal.Journal) journal.Journal {
	t.Helper()
	var b journal.Batch
	for pair, err := range j.Scan([]byte{0}, []byte{0xff}) {
		if err != nil {
			t.Fatal(err)
		}
		b.Put(bytes.Clone(pair.Key), bytes.Clone(pair.Value))
	}
	copied := journal.NewMemory()
	if err := copied.Commit(&b); err != nil {
		t.Fatal(err)
	}
	return copied
}

// A server whose journal comes from a backup releases no second sum, of whatever reports, and opens no round that
// has released one. A server that stopped between the end of a round and its note knows the end.
func TestARestoredServerReleasesNothingAgain(t *testing.T) {
	cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t), Releases: t.TempDir()}
	p := start(t, cfg)
	r := open(t, p, sharesRound("once"))
	m := mechanismOf(t, r).(fl.SharedMechanism)
	var plain, second [][]byte
	for range 5 {
		a, b, err := m.EncodeShares(nil, nil, make([]float64, r.Dim), nil)
		if err != nil {
			t.Fatal(err)
		}
		plain, second = append(plain, append(a, noTag...)), append(second, b)
	}
	all := sealed(t, r, plain...)
	forwardGood(t, p, r, all[:4]...)
	backup := snapshot(t, cfg.Journal)
	if err := complete(t, p, r, released(t, m, all[:4], second[:4])); err != nil {
		t.Fatal(err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	ended := snapshot(t, cfg.Journal)

	restored := cfg
	restored.Journal = backup
	p = start(t, restored)
	forwardGood(t, p, r, all[4])
	_ = complete(t, p, r, released(t, m, all, second))
	if _, err := p.operator.Estimate(t.Context(), r.ID, false); err == nil {
		t.Error("a restored server has released a second sum")
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}

	restored.Journal = journal.NewMemory()
	p = start(t, restored)
	if _, err := p.operator.OpenRound(t.Context(), r); err == nil || !strings.Contains(err.Error(), "has left before") {
		t.Errorf("a round that has released a sum is opened: %v", err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}

	late := cfg
	late.Journal, late.Releases = ended, t.TempDir() // without the note
	p = start(t, late)
	if _, err := p.operator.Estimate(t.Context(), r.ID, false); err != nil {
		t.Error(err)
	}
	if notes, err := filepath.Glob(filepath.Join(late.Releases, "*.released")); err != nil || len(notes) != 1 {
		t.Errorf("%v, %v, want a note", notes, err)
	}
}

// forwardShares forwards n reports of zeros, and returns what the second server releases for them.
func forwardShares(t *testing.T, p *peers, r fl.Round, n int) []byte {
	t.Helper()
	m := mechanismOf(t, r).(fl.SharedMechanism)
	var plain, second [][]byte
	for range n {
		a, b, err := m.EncodeShares(nil, nil, make([]float64, r.Dim), nil)
		if err != nil {
			t.Fatal(err)
		}
		plain, second = append(plain, append(a, noTag...)), append(second, b)
	}
	all := sealed(t, r, plain...)
	forwardGood(t, p, r, all...)
	return released(t, m, all, second)
}

// A journal from a backup does not know that a sum has left, and neither does a directory that is new. Together they release
// nothing of a round that was open, and say what is missing. The right directory lets the round go on. Rounds that are
// opened with the new directory release, and the old round can be aborted.
func TestALostDirectoryOfReleasesReleasesNothing(t *testing.T) {
	old := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t), Releases: t.TempDir()}
	p := start(t, old)
	r := open(t, p, sharesRound("once"))
	second := forwardShares(t, p, r, 4)
	backup := snapshot(t, old.Journal)
	if err := complete(t, p, r, second); err != nil {
		t.Fatal(err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}

	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), t.TempDir(), ""} {
		restored := old
		restored.Journal, restored.Releases = snapshot(t, backup), dir
		p = start(t, restored)
		err := complete(t, p, r, second)
		wantCode(t, "the second sum", err, codes.FailedPrecondition)
		if text := fmt.Sprint(err); !strings.Contains(text, "must be aborted") || !strings.Contains(text, "directory of released sums") {
			t.Errorf("%v does not say what is missing, and what to do", err)
		}
		_, err = p.operator.Estimate(t.Context(), r.ID, true)
		wantCode(t, "the estimate", errors.Unwrap(err), codes.FailedPrecondition)
		wantCode(t, "closing", errors.Unwrap(p.operator.CloseRound(t.Context(), r.ID)), codes.FailedPrecondition)
		if s := state(t, p, r.ID); s != service.RoundState_ROUND_STATE_OPEN {
			t.Errorf("the round is %v", s)
		}
		if err := p.operator.AbortRound(t.Context(), r.ID); err != nil {
			t.Error(err)
		}
		if _, err := p.operator.Estimate(t.Context(), r.ID, false); err == nil {
			t.Error("a second sum was released")
		}
		fresh := open(t, p, sharesRound("fresh"))
		if err := complete(t, p, fresh, forwardShares(t, p, fresh, 4)); err != nil {
			t.Errorf("a round that was opened with the new directory: %v", err)
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
	}

	// Of a round that has released nothing, the directory may come back.
	here := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t), Releases: t.TempDir()}
	p = start(t, here)
	r = open(t, p, sharesRound("later"))
	second = forwardShares(t, p, r, 4)
	for _, dir := range []string{t.TempDir(), here.Releases} {
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		moved := here
		moved.Releases = dir
		p = start(t, moved)
		if err := complete(t, p, r, second); (err == nil) != (dir == here.Releases) {
			t.Errorf("with %s, of %s: %v", dir, here.Releases, err)
		}
	}
}

// A server that is killed while it makes its directory, or before its journal knows it, starts again: the id gets its name when it
// is complete, and a round has the id from its first write on. A damaged id is refused.
func TestAKillWhileTheDirectoryOfReleasesIsMade(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"an empty directory": nil,
		"half an id":         {"id.new": "ABC"},
		"a whole one":        {"id.new": strings.Repeat("A", 26)},
		"with its name":      {"id": strings.Repeat("A", 26)},
	} {
		dir := t.TempDir()
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg := server.Config{Journal: journal.NewMemory(), Seal: newKeys(t), Releases: dir}
		p := start(t, cfg)
		r := open(t, p, sharesRound("r"))
		second := forwardShares(t, p, r, 4)
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		p = start(t, cfg)
		if err := complete(t, p, r, second); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "id"), []byte("ABC"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := server.New(cfg); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "id")) {
			t.Errorf("%s: a damaged id: %v", name, err)
		}
	}
}
