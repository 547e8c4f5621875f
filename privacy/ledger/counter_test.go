package ledger_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// counted returns options with a counter in a directory of its own.
func counted(t *testing.T) ledger.Options {
	t.Helper()
	return ledger.Options{Counter: filepath.Join(t.TempDir(), "counter")}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// refused opens a ledger that must not open.
func refused(t *testing.T, path string, opts ledger.Options, target error) {
	t.Helper()
	l, err := ledger.Open(path, opts)
	if wantError(t, err, target, ""); err == nil {
		must(t, l.Close())
	}
}

// A ledger that is restored from an older copy has forgotten what came later. The counter
// notices it, however little was forgotten.
func TestOlderCopiesAreRefused(t *testing.T) {
	opts := counted(t)
	l, path := fresh(t, limit(10), opts)
	var copies [][]byte
	steps := []func(){
		func() { reserve(t, l, charge(1, 1)) },
		func() { reserve(t, l, charge(2, 1)) },
		func() { must(t, l.Spend(1)) },
		func() { must(t, l.Receipt(1, "ok")) },
		func() { must(t, l.Release(2)) },
		func() { must(t, l.SetBudget(purpose, limit(20))) },
	}
	for _, step := range steps {
		must(t, l.Close())
		copies = append(copies, read(t, path))
		l = reopen(t, path, opts)
		step()
	}
	must(t, l.Close())
	newest := read(t, path)
	for i, older := range copies {
		must(t, os.WriteFile(path, older, 0o600))
		for range 2 { // a refusal changes nothing
			refused(t, path, opts, ledger.ErrReplaced)
		}
		if string(read(t, path)) != string(older) {
			t.Errorf("copy %d was changed", i)
		}
	}
	must(t, os.WriteFile(path, newest, 0o600))
	must(t, reopen(t, path, opts).Close())

	// The file of another ledger, which has come further, and no file at all.
	other, otherPath := fresh(t, limit(10), ledger.Options{})
	for n := range uint64(30) {
		reserve(t, other, charge(n+1, 0.1))
	}
	must(t, other.Close())
	must(t, os.WriteFile(path, read(t, otherPath), 0o600))
	refused(t, path, opts, ledger.ErrReplaced)
	must(t, os.Remove(path))
	refused(t, path, opts, ledger.ErrReplaced)
	if _, err := os.Lstat(path); err == nil {
		t.Error("a new ledger was made beside the counter of an old one")
	}
}

// A process can die between a step and its counter. The step had not been reported then. What a
// ledger did without its counter counts from the next time on.
func TestCountersCatchUp(t *testing.T) {
	opts := counted(t)
	l, path := fresh(t, limit(10), opts)
	behind := read(t, opts.Counter)
	reserve(t, l, charge(1, 1))
	must(t, l.Close())
	must(t, os.WriteFile(opts.Counter, behind, 0o600))
	older := read(t, path)
	l = reopen(t, path, ledger.Options{})
	reserve(t, l, charge(2, 1))
	must(t, l.Close())
	must(t, reopen(t, path, opts).Close())
	must(t, os.WriteFile(path, older, 0o600))
	refused(t, path, opts, ledger.ErrReplaced)
}

func TestCountersThatCannotBeUsed(t *testing.T) {
	opts := counted(t)
	l, path := fresh(t, limit(10), ledger.Options{})
	must(t, l.Close())
	opts.MustExist = true
	_, err := ledger.Open(path, opts)
	wantError(t, err, fs.ErrNotExist, "Counter")
	opts.MustExist = false
	must(t, reopen(t, path, opts).Close())
	sound := read(t, opts.Counter)
	for i := range sound {
		bad := append([]byte(nil), sound...)
		bad[i] ^= 1
		must(t, os.WriteFile(opts.Counter, bad, 0o600))
		refused(t, path, opts, ledger.ErrDamaged)
	}
	must(t, os.WriteFile(opts.Counter, sound[:20], 0o600))
	refused(t, path, opts, ledger.ErrDamaged)

	// A charge whose counter cannot be written is not granted, and nothing after it.
	must(t, os.WriteFile(opts.Counter, sound, 0o600))
	l = reopen(t, path, opts)
	must(t, os.RemoveAll(filepath.Dir(opts.Counter)))
	_, err = l.Reserve(context.Background(), charge(1, 1))
	wantError(t, err, ledger.ErrFailed, "")
	must(t, os.MkdirAll(filepath.Dir(opts.Counter), 0o700))
	_, err = l.Reserve(context.Background(), charge(2, 1))
	wantError(t, err, ledger.ErrFailed, "")
	must(t, l.Close())
	must(t, os.WriteFile(opts.Counter, read(t, path), 0o600))
	refused(t, path, opts, ledger.ErrDamaged) // that is no counter
	_, err = ledger.Open(path, ledger.Options{Counter: path + ".counter"})
	wantError(t, err, nil, "Counter") // a restored directory would bring back both
}
