package translog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// signing are the keys of a test's log.
type signing struct{ private, public string }

func newSigning(t testing.TB, name string, witness bool) signing {
	t.Helper()
	private, public, err := NewKey(name, witness)
	must(t, err)
	return signing{private, public}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func keysOf(t testing.TB, log signing, witnesses ...string) Keys {
	t.Helper()
	keys, err := NewKeys("key", log.public, "witness", witnesses)
	must(t, err)
	return keys
}

// round is an entry about the n-th round.
func round(n int) Entry {
	e := Entry{Kind: Round, Time: time.Unix(1e9, 0), Round: fmt.Sprint("r", n), Mechanism: "coco", Dim: 4, Promise: "ε", MinReports: 2}
	e.SHA256[0], e.SHA256[1] = byte(n), byte(n>>8)
	return e
}

func rounds(from, to int) (entries []Entry) {
	for n := from; n < to; n++ {
		entries = append(entries, round(n))
	}
	return entries
}

func openLog(t testing.TB, dir string, key signing, witnesses ...string) *Log {
	t.Helper()
	l, err := Open(dir, key.private, witnesses)
	must(t, err)
	return l
}

func reader(t testing.TB, place string, keys Keys) *Reader {
	t.Helper()
	return NewReader(Folder(place), keys)
}

// read returns all entries that a reader finds, and its checkpoint.
func read(r *Reader) (entries []Entry, c Checkpoint, err error) {
	if c, err = r.Checkpoint(context.Background()); err != nil {
		return nil, c, err
	}
	for e, err := range r.Entries(context.Background(), c, 0) {
		if err != nil {
			return nil, c, err
		}
		entries = append(entries, e.Entry)
	}
	return entries, c, nil
}

// A log that grows in steps across the bounds of tiles, and is opened anew in between, is read as it was
// written. Each checkpoint continues the ones before it.
func TestALogIsReadAsItWasWritten(t *testing.T) {
	dir, key := t.TempDir(), newSigning(t, "test.example/log", false)
	keys := keysOf(t, key)
	l := openLog(t, dir, key)
	var all []Entry
	var seen []Checkpoint
	for _, step := range []int{1, 1, 5, 248, 1, 1, 300, 1000} {
		next := rounds(len(all), len(all)+step)
		must(t, l.Append(next...))
		must(t, l.Append(next[0], next[len(next)-1])) // again
		all = append(all, next...)
		if step == 5 || step == 300 {
			l = openLog(t, dir, key)
		}
		r := reader(t, dir, keys)
		got, c, err := read(r)
		must(t, err)
		if len(got) != len(all) || got[len(got)-1].SHA256 != all[len(all)-1].SHA256 || got[0].SHA256 != all[0].SHA256 {
			t.Fatalf("%d entries, want %d", len(got), len(all))
		}
		for _, older := range seen {
			must(t, r.Continues(t.Context(), older, c))
		}
		seen = append(seen, c)
		for _, n := range []int{0, len(all) / 2, len(all) - 1} {
			proof, err := l.Proof(all[n].SHA256)
			must(t, err)
			if p, err := keys.Check(proof, all[n].SHA256); err != nil || p.Index != int64(n) || len(proof) > 2000 {
				t.Errorf("proof of %d in %d: index %d, %d bytes, %v", n, len(all), p.Index, len(proof), err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "tile/entries/000.p")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("parts of a full tile stay: %v", err)
	}
	if proof, err := l.Proof(round(5000).SHA256); proof != nil || err != nil {
		t.Errorf("a round that is not logged: %d bytes, %v", len(proof), err)
	}
}

// A proof for one round is none for another, and none under another key or without a witness.
func TestAProofIsForItsRound(t *testing.T) {
	key, other, witness := newSigning(t, "test.example/log", false), newSigning(t, "test.example/log", false), newSigning(t, "witness.example", true)
	l := openLog(t, t.TempDir(), key)
	must(t, l.Append(rounds(0, 300)...))
	proof, err := l.Proof(round(7).SHA256)
	must(t, err)
	if _, err := keysOf(t, key).Check(proof, round(7).SHA256); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		keys  Keys
		proof []byte
		round int
	}{
		"another round": {keysOf(t, key), proof, 8},
		"another key":   {keysOf(t, other), proof, 7},
		"no witness":    {keysOf(t, key, witness.public), proof, 7},
		"no proof":      {keysOf(t, key), nil, 7},
		"another index": {keysOf(t, key), []byte(strings.Replace(string(proof), "index 7\n", "index 6\n", 1)), 7},
		"too long":      {keysOf(t, key), append(proof[:len(proof):len(proof)], make([]byte, MaxProofBytes)...), 7},
	} {
		if _, err := c.keys.Check(c.proof, round(c.round).SHA256); !errors.Is(err, ErrUnlogged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A process that is killed between its files and its checkpoint leaves files beyond the checkpoint. The log
// goes on without them, and nobody is shown them.
func TestWhatAKillLeavesIsNotInTheLog(t *testing.T) {
	dir, before, key := t.TempDir(), t.TempDir(), newSigning(t, "test.example/log", false)
	l := openLog(t, dir, key)
	must(t, l.Append(rounds(0, 250)...))
	must(t, os.CopyFS(before, os.DirFS(dir)))
	must(t, l.Append(rounds(250, 270)...))
	must(t, fs.WalkDir(os.DirFS(before), ".", func(path string, d fs.DirEntry, err error) error { // what was there stays until the checkpoint
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(before, path))
		must(t, err)
		return writeFile(dir, path, data)
	}))
	l = openLog(t, dir, key)
	for path, shown := range map[string]bool{
		"checkpoint": true, "tile/entries/000.p/250": true, "tile/0/000.p/250": true, "tile/0/000.p/1": false,
		"tile/0/000": false, "tile/entries/001.p/14": false, "tile/1/000.p/1": false, "../key": false, "": false,
	} {
		file, ok := l.File(path)
		if _, missing := os.Stat(file); (ok && missing == nil) != shown {
			t.Errorf("%q: %v, %v, want %v", path, ok, missing, shown)
		}
	}
	must(t, l.Append(rounds(400, 420)...))
	got, _, err := read(reader(t, dir, keysOf(t, key)))
	must(t, err)
	if len(got) != 270 || got[250].SHA256 != round(400).SHA256 {
		t.Errorf("%d entries, the first after the kill %v", len(got), got[250].SHA256)
	}
}

// A changed byte in any file is found, when the log is read and when the server opens it.
func TestDamageIsFound(t *testing.T) {
	dir, key := t.TempDir(), newSigning(t, "test.example/log", false)
	must(t, openLog(t, dir, key).Append(rounds(0, 600)...))
	files := 0
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		must(t, err)
		damaged := append([]byte(nil), data...)
		damaged[len(data)/2] ^= 1
		if strings.Contains(path, "entries") { // which stays an entry
			damaged = bytes.Replace(data, []byte(`"dim":4`), []byte(`"dim":5`), 1)
		}
		must(t, os.WriteFile(path, damaged, 0o600))
		if _, _, err := read(reader(t, dir, keysOf(t, key))); err == nil {
			t.Errorf("%s: nobody notices", path)
		}
		if _, err := Open(dir, key.private, nil); err == nil {
			t.Errorf("%s: opened", path)
		}
		return os.WriteFile(path, data, 0o600)
	}))
	if files != 8 { // the checkpoint, 3 of entries, 3 of hashes, 1 above them
		t.Errorf("%d files", files)
	}
}

// A folder that lost its checkpoint, and one that another process writes, are not written.
func TestAFolderOfAnotherIsNotWritten(t *testing.T) {
	dir, key := t.TempDir(), newSigning(t, "test.example/log", false)
	l, twin := openLog(t, dir, key), openLog(t, dir, key)
	must(t, l.Append(round(1)))
	if err := twin.Append(round(2)); err == nil || !strings.Contains(err.Error(), "one process") {
		t.Errorf("two writers: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, CheckpointPath)))
	if _, err := Open(dir, key.private, nil); err == nil || !strings.Contains(err.Error(), "put it back") {
		t.Errorf("without a checkpoint: %v", err)
	}
	if _, err := Open(t.TempDir(), "not a key", nil); err == nil || strings.Contains(err.Error(), "not a key") {
		t.Errorf("another key: %v", err)
	}
}

// A log takes no entry that contradicts one that it has.
func TestALogDoesNotContradictItself(t *testing.T) {
	dir, key := t.TempDir(), newSigning(t, "test.example/log", false)
	l := openLog(t, dir, key)
	release := Entry{Kind: Release, Time: time.Unix(1e9, 0), Round: "r1", SHA256: Digest{1}, Description: round(1).SHA256}
	model := Entry{Kind: Model, Time: time.Unix(1e9, 0), Version: 7, SHA256: Digest{1}}
	must(t, l.Append(round(1), release, model))
	for range 2 {
		another, of := release, release
		another.SHA256, of.Round, of.Description = Digest{2}, "r1", Digest{3}
		other, again := round(2), model
		other.Round, again.SHA256 = "r1", Digest{2}
		for _, e := range []Entry{another, of, other, again} {
			if err := l.Append(e); !errors.Is(err, ErrContradiction) {
				t.Errorf("%+v: %v", e, err)
			}
		}
		must(t, l.Append(round(1), release, model)) // is there already
		if l.Size() != 3 || !l.HasRound("r1") || l.HasRound("r2") || !l.HasRelease("r1") || l.HasRelease("r2") || l.NewestModel() != 7 {
			t.Errorf("size %d, newest model %d", l.Size(), l.NewestModel())
		}
		l = openLog(t, dir, key)
	}
}

// Two logs under one key are a fork from the first entry on in which they differ, and not before it.
func TestAForkIsFound(t *testing.T) {
	key := newSigning(t, "test.example/log", false)
	keys, one, two := keysOf(t, key), t.TempDir(), t.TempDir()
	a, b := openLog(t, one, key), openLog(t, two, key)
	for _, l := range []*Log{a, b} {
		must(t, l.Append(rounds(0, 300)...))
	}
	r := reader(t, one, keys)
	_, common, err := read(r)
	must(t, err)
	must(t, a.Append(rounds(300, 400)...))
	must(t, b.Append(rounds(500, 700)...))
	_, ofA, err := read(r)
	must(t, err)
	other := reader(t, two, keys)
	_, ofB, err := read(other)
	must(t, err)
	must(t, r.Continues(t.Context(), common, ofA))
	must(t, other.Continues(t.Context(), common, ofB))
	must(t, other.Continues(t.Context(), ofB, common)) // an old one is no fork
	for _, c := range [][2]Checkpoint{{ofA, ofB}, {ofB, ofA}} {
		err := other.Continues(t.Context(), c[0], c[1])
		if !errors.Is(err, ErrFork) || !strings.Contains(err.Error(), string(ofA.Signed)) || !strings.Contains(err.Error(), string(ofB.Signed)) {
			t.Errorf("%d and %d entries: %v, want a fork with its evidence", c[0].N, c[1].N, err)
		}
	}
	anew := t.TempDir()
	must(t, openLog(t, anew, key).Append(round(1)))
	lost := reader(t, anew, keys)
	_, short, err := read(lost)
	must(t, err)
	if err := lost.Continues(t.Context(), common, short); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "it shows 1 entries, and its key has signed 300") {
		t.Errorf("a log that was begun anew: %v", err)
	}
	same := ofA
	same.Hash = tlog.Hash{}
	if err := r.Continues(t.Context(), ofA, same); !errors.Is(err, ErrFork) {
		t.Errorf("two trees of one size: %v", err)
	}
}

// What a client does with a proof in a log of 60 000 entries under one witness's signature.
func BenchmarkCheck(b *testing.B) {
	key, own := newSigning(b, "test.example/log", false), newSigning(b, "witness.example", true)
	l := openLog(b, b.TempDir(), key, own.public)
	must(b, l.Append(rounds(0, 60_000)...))
	w, err := NewWitness("key", key.public, "own", own.private)
	must(b, err)
	signed, err := w.Cosign(l.now)
	must(b, err)
	must(b, l.Cosign(signed))
	keys := keysOf(b, key, own.public)
	proof, err := l.Proof(round(777).SHA256)
	must(b, err)
	for b.Loop() {
		if _, err := keys.Check(proof, round(777).SHA256); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(proof)), "bytes")
}
