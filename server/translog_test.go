package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/internal/translog"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// logged returns the settings of a new log, and its public key.
func logged(t *testing.T) (server.Log, string) {
	t.Helper()
	private, public, err := translog.NewKey("test.example/log", false)
	if err != nil {
		t.Fatal(err)
	}
	return server.Log{Dir: t.TempDir(), Key: private}, public
}

// entriesOf reads a log.
func entriesOf(t *testing.T, l server.Log, public string) (entries []translog.Entry) {
	t.Helper()
	keys, err := translog.NewKeys("key", public, "witness", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := translog.NewReader(translog.Folder(l.Dir), keys)
	c, err := r.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range r.Entries(t.Context(), c, 0) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e.Entry)
	}
	return entries
}

// kindsOf lists what entries are about.
func kindsOf(entries []translog.Entry) (kinds []string) {
	for _, e := range entries {
		kinds = append(kinds, string(e.Kind)+" "+e.Round+e.Use)
	}
	return kinds
}

// estimated opens a round, counts reports and closes it.
func estimated(t *testing.T, p *peers, id string) {
	t.Helper()
	open(t, p, cocoRound(id))
	part := join(t, p, id)
	if _, err := part.Submit(t.Context(), encode(t, part, 5)); err != nil {
		t.Fatal(err)
	}
	if err := p.operator.CloseRound(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// A server writes its rounds with their keys, its releases and its models to the log, each once. The digests
// are the digests of what was shown.
func TestTheLogHasWhatTheServerShows(t *testing.T) {
	l, public := logged(t)
	p := start(t, server.Config{Log: l, Seal: newKeys(t)})
	estimated(t, p, "a")
	sealedRound := cocoRound("b")
	sealedRound.Shuffler = "shuffler.test"
	shown := open(t, p, sealedRound)
	if _, err := p.operator.PutModel(t.Context(), "text/plain", []byte("model")); err != nil {
		t.Fatal(err)
	}
	entries := entriesOf(t, l, public)
	if got, want := kindsOf(entries), []string{"round a", "release a", "key bseal", "round b", "model "}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	digest, err := shown.Digest()
	if err != nil || entries[3].SHA256 != digest {
		t.Errorf("round b: %s, want %x (%v)", entries[3].SHA256, digest, err)
	}
	e, err := p.operator.Estimate(t.Context(), "a", false)
	if err != nil || entries[1].SHA256 != translog.EstimateDigest(e) || entries[1].Reports != 5 || *entries[1].Epsilon != 2 || entries[1].Description != entries[0].SHA256 {
		t.Errorf("release: %+v, want the digest of what the operator got (%v)", entries[1], err)
	}
	if m, err := p.client.Model(t.Context()); err != nil || entries[4].Bytes != uint64(len(m.Data)) || entries[4].Version != m.Version {
		t.Errorf("model: %+v (%v)", entries[4], err)
	}
}

// What is in the journal and not in the log, as after a kill between the two, is logged before a server that
// starts shows anything.
func TestTheLogCatchesUpWithTheJournal(t *testing.T) {
	first, _ := logged(t)
	cfg := server.Config{Journal: journal.NewMemory(), Log: first}
	p := start(t, cfg)
	estimated(t, p, "ended")
	open(t, p, cocoRound("open"))
	if _, err := p.operator.PutModel(t.Context(), "text/plain", []byte("model")); err != nil {
		t.Fatal(err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	second, public := logged(t) // which has nothing
	cfg.Log = second
	for range 2 {
		p = start(t, cfg)
		if got, want := kindsOf(entriesOf(t, second, public)), []string{"release ended", "round open", "model "}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A journal from a backup agrees with a log that has gone on: ids and versions that the log has are not given
// again, and a round whose estimate is in the log is not released another time.
func TestAJournalFromABackupContradictsNoLog(t *testing.T) {
	l, public := logged(t)
	dir := filepath.Join(t.TempDir(), "journal")
	run := func(dir string) (*peers, func()) {
		kept, err := disk.Open(dir, disk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := start(t, server.Config{Log: l, Journal: kept})
		return p, func() {
			if err := errors.Join(p.close(), kept.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	p, stop := run(dir)
	put := func(model string) uint64 {
		version, err := p.operator.PutModel(t.Context(), "text/plain", []byte(model))
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	put("first")
	open(t, p, cocoRound("open"))
	part := join(t, p, "open")
	submit := func() error { _, err := part.Submit(t.Context(), encode(t, part, 5)); return err }
	if err := submit(); err != nil {
		t.Fatal(err)
	}
	stop()
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}

	p, stop = run(dir)
	part = join(t, p, "open")
	if err := errors.Join(submit(), p.operator.CloseRound(t.Context(), "open")); err != nil {
		t.Fatal(err)
	}
	estimated(t, p, "later")
	if v := put("second"); v != 2 {
		t.Fatalf("version %d, want 2", v)
	}
	stop()

	p, stop = run(backup)
	_, err := p.operator.OpenRound(t.Context(), cocoRound("later"))
	wantCode(t, "a round that the log has", err, codes.AlreadyExists)
	if v := put("third"); v != 3 {
		t.Errorf("version %d, want the one after the log's", v)
	}
	wantCode(t, "an estimate that has left", errors.Unwrap(p.operator.CloseRound(t.Context(), "open")), codes.FailedPrecondition)
	estimated(t, p, "new")
	stop()
	var story translog.Story
	entries := entriesOf(t, l, public)
	for _, e := range entries {
		if err := story.Add(e); err != nil {
			t.Error(err)
		}
	}
	want := []string{"model ", "round open", "release open", "round later", "release later", "model ", "model ", "round new", "release new"}
	if got := kindsOf(entries); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A folder that has forgotten what its key signed is a fork when it grows. The server does not start with it.
// Another key begins another log.
func TestAForgetfulLogIsNotGoneOnWith(t *testing.T) {
	l, _ := logged(t)
	kept := journal.NewMemory()
	p := start(t, server.Config{Log: l, Journal: kept})
	open(t, p, cocoRound("a"))
	old := t.TempDir()
	err := os.CopyFS(old, os.DirFS(l.Dir))
	open(t, p, cocoRound("b"))
	if err = errors.Join(err, p.close()); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"empty": t.TempDir(), "from a backup": old} {
		forgetful := server.Log{Dir: dir, Key: l.Key}
		if _, err := server.New(server.Config{Log: forgetful, Journal: kept}); err == nil || !strings.Contains(err.Error(), "must have the 2 entries") {
			t.Errorf("%s: %v", name, err)
		}
	}
	another, _ := logged(t)
	for _, l := range []server.Log{l, another, another} {
		if err := start(t, server.Config{Log: l, Journal: kept}).close(); err != nil {
			t.Error(err)
		}
	}
}

// A round that the log does not take is not shown, and its id stays taken.
func TestARoundThatIsNotLoggedIsNotShown(t *testing.T) {
	l, _ := logged(t)
	kept := journal.NewMemory()
	p := start(t, server.Config{Log: l, Journal: kept})
	checkpoint := filepath.Join(l.Dir, "checkpoint")
	signed, err := os.ReadFile(checkpoint)
	if err == nil {
		err = os.WriteFile(checkpoint, []byte("another process was here\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.operator.OpenRound(t.Context(), cocoRound("r")); err == nil {
		t.Fatal("opened")
	}
	_, err = p.rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"})
	wantCode(t, "GetRound", err, codes.NotFound)
	if err := os.WriteFile(checkpoint, signed, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = p.operator.OpenRound(t.Context(), cocoRound("r"))
	wantCode(t, "OpenRound", err, codes.AlreadyExists)
	open(t, p, cocoRound("s"))
	if _, err := kept.Get([]byte("server/head/r")); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the round would be open after a restart: %v", err)
	}
}
