package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// wantKept checks what an entry keeps, nil for nothing.
func wantKept(t *testing.T, l *ledger.Ledger, id ledger.ID, want []byte) {
	t.Helper()
	got, err := l.Kept(id)
	must(t, err)
	if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
		t.Errorf("entry %v keeps %d bytes %.20x, want %d bytes %.20x", id, len(got), got, len(want), want)
	}
}

// What an entry keeps is there until the entry ends, also after the file was closed.
func TestEntriesKeepBytesUntilTheyEnd(t *testing.T) {
	opts := counted(t)
	l, path := fresh(t, limit(10), opts)
	var ids []ledger.ID
	for n := range uint64(4) {
		ids = append(ids, reserve(t, l, charge(n+1, 1)))
	}
	first, second := []byte("a request"), bytes.Repeat([]byte("a report "), 3000)
	for _, id := range ids[:3] {
		must(t, l.Keep(id, first))
		wantKept(t, l, id, first)
		must(t, l.Keep(id, second))
	}
	must(t, l.Spend(ids[0]))
	must(t, l.Spend(ids[1]))
	for range 2 {
		for _, id := range ids[:3] {
			wantKept(t, l, id, second)
		}
		wantKept(t, l, ids[3], nil)
		must(t, l.Close())
		l = reopen(t, path, opts)
	}
	must(t, l.Receipt(ids[0], "ok"))
	must(t, l.Release(ids[2]))
	must(t, l.Close())
	l = reopen(t, path, opts)
	wantKept(t, l, ids[0], nil)
	wantKept(t, l, ids[1], second)
	wantKept(t, l, ids[2], nil)
	for _, id := range ids[:3] { // acknowledged, spent, released
		wantError(t, l.Keep(id, first), ledger.ErrState, "")
	}
	wantKept(t, l, ids[1], second)
	wantError(t, l.Keep(9, first), ledger.ErrUnknown, "")
	_, err := l.Kept(9)
	wantError(t, err, ledger.ErrUnknown, "")
	large := bytes.Repeat([]byte{0, 255, '\n', '"'}, 5<<20) // of any bytes
	must(t, l.Keep(ids[3], large))
	wantError(t, l.Keep(ids[3], nil), nil, "data")
	wantError(t, l.Keep(ids[3], make([]byte, ledger.MaxKept+1)), nil, "data")
	wantKept(t, l, ids[3], large)
}

// A client that comes back finds the entry that counts for the round, whatever state it is in.
func TestTheEntryOfARoundIsFound(t *testing.T) {
	l, _ := fresh(t, limit(10), ledger.Options{})
	must(t, l.SetBudget("other", limit(10)))
	missing := func() {
		t.Helper()
		_, err := l.Find(purpose, digest(1))
		wantError(t, err, ledger.ErrUnknown, "")
	}
	missing()
	other := charge(1, 1)
	other.Purpose = "other"
	reserve(t, l, other)
	reserve(t, l, charge(2, 1))
	missing()
	must(t, l.Release(reserve(t, l, charge(1, 1))))
	missing()
	id := reserve(t, l, charge(1, 1))
	reserve(t, l, charge(3, 1))
	for _, c := range []struct {
		step  func(ledger.ID) error
		state ledger.State
	}{
		{func(ledger.ID) error { return nil }, ledger.Reserved}, {l.Spend, ledger.Spent},
		{func(id ledger.ID) error { return l.Receipt(id, "ok") }, ledger.Acknowledged},
	} {
		must(t, c.step(id))
		if e, err := l.Find(purpose, digest(1)); err != nil || e.ID != id || e.State != c.state {
			t.Errorf("found %+v, %v, want entry %v, %v", e, err, id, c.state)
		}
	}
}

// A file of version 1 has no bytes to keep, one of version 2 nothing central, and one of version 3 keeps JSON. They are brought up
// to date, and nothing of them changes.
func TestOldLedgersOpen(t *testing.T) {
	for version := range 3 {
		oldLedgerOpens(t, version+1)
	}
}

func oldLedgerOpens(t *testing.T, version int) {
	opts := counted(t)
	l, path := fresh(t, limit(10), opts)
	id := reserve(t, l, charge(1, 1))
	before := entries(t, l)
	must(t, l.Close())
	edit(t, path, func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("hushgrad ledger"))
		head := bytes.Replace(b.Get([]byte("format"))[32:], []byte(`"version":4`), fmt.Appendf(nil, `"version":%d`, version), 1)
		if version == 1 {
			must(t, tx.DeleteBucket([]byte("kept")))
		} else {
			key := string([]byte{0, 0, 0, 0, 0, 0, 0, byte(id)})
			must(t, tx.Bucket([]byte("kept")).Put([]byte(key), sealed(key, `"b2xk"`)))
		}
		return b.Put([]byte("format"), sealed("format", string(head)))
	})
	old := read(t, path)
	want := []byte("old")
	if version == 1 {
		want = nil
	}
	for range 2 {
		l = reopen(t, path, opts)
		wantKept(t, l, id, want)
		want = []byte("a report")
		if after := entries(t, l); len(after) != 1 || after[0] != before[0] {
			t.Errorf("entries %+v, want %+v", after, before)
		}
		must(t, l.Keep(id, []byte("a report")))
		must(t, l.SetCentralBudget(purpose, limit(3)))
		must(t, l.Close())
	}
	must(t, os.WriteFile(path, old, 0o600))
	refused(t, path, opts, ledger.ErrReplaced) // it is an older copy now
}
