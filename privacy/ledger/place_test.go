package ledger_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// replacements put something else where an open ledger is. Each returns where its file is then.
var replacements = map[string]func(t *testing.T, path string) (file string){
	"renamed away": func(t *testing.T, path string) string {
		must(t, os.Rename(path, path+".away"))
		return path + ".away"
	},
	"another ledger in its place": func(t *testing.T, path string) string {
		_, other := fresh(t, limit(1000), ledger.Options{})
		must(t, os.Rename(path, path+".away"))
		must(t, os.Rename(other, path))
		return path + ".away"
	},
	"a copy in its place": func(t *testing.T, path string) string {
		data, err := os.ReadFile(path)
		must(t, err)
		must(t, os.Rename(path, path+".away"))
		must(t, os.WriteFile(path, data, 0o600))
		return path + ".away"
	},
	"a link to it in its place": func(t *testing.T, path string) string {
		must(t, os.Rename(path, path+".away"))
		must(t, os.Symlink(path+".away", path))
		return path + ".away"
	},
	"its directory renamed": func(t *testing.T, path string) string {
		away := filepath.Dir(path) + ".away"
		must(t, os.Rename(filepath.Dir(path), away))
		t.Cleanup(func() { _ = os.RemoveAll(away) })
		return filepath.Join(away, filepath.Base(path))
	},
}

// A ledger whose file is no longer at its path records nothing and says what happened, also
// when the file is put back: another process may have opened what was there in between.
func TestReplacedWhileOpen(t *testing.T) {
	for name, replace := range replacements {
		l, path := fresh(t, limit(10), ledger.Options{})
		first := reserve(t, l, charge(1, 1))
		file := replace(t, path)
		before, err := os.ReadFile(file)
		must(t, err)
		for range 2 {
			_, reserveErr := l.Reserve(context.Background(), charge(2, 1))
			_, spentErr := l.Spent(purpose)
			_, entriesErr := l.Entries(purpose)
			for _, err := range []error{reserveErr, spentErr, entriesErr, l.Spend(first), l.Release(first), l.SetBudget(purpose, limit(20)), l.Export(io.Discard)} {
				if wantError(t, err, ledger.ErrReplaced, ""); err == nil || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: got error %v, want one that names the file", name, err)
				}
			}
			_ = os.Remove(path)
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.Link(file, path)) // as it was
		}
		after, err := os.ReadFile(file)
		must(t, err)
		if string(after) != string(before) {
			t.Errorf("%s: something was recorded", name)
		}
		must(t, l.Close())
		if n := len(entries(t, reopen(t, path, ledger.Options{}))); n != 1 {
			t.Errorf("%s: got %d entries when opened anew, want 1", name, n)
		}
	}
}

// A file that is replaced while a charge is being recorded does not hold the charge.
func TestReplacedWhileReserving(t *testing.T) {
	for name, replace := range replacements {
		var l *ledger.Ledger
		var path string
		l, path = fresh(t, limit(10), ledger.Options{Filter: func(charges []ledger.Charge, delta float64) (float64, error) {
			if len(charges) == 2 {
				replace(t, path)
			}
			return ledger.BasicFilter(charges, delta)
		}})
		reserve(t, l, charge(1, 1))
		if id, err := l.Reserve(context.Background(), charge(2, 1)); err == nil {
			t.Errorf("%s: the charge was granted as entry %v", name, id)
		} else {
			wantError(t, err, ledger.ErrReplaced, "")
		}
	}
}

// An older copy that is written over the open file forgets what came later.
func TestOverwrittenWhileOpen(t *testing.T) {
	l, path := fresh(t, limit(10), ledger.Options{})
	older, err := os.ReadFile(path)
	must(t, err)
	first := reserve(t, l, charge(1, 1))
	must(t, os.WriteFile(path, older, 0o600))
	for _, err := range []error{l.Spend(first), l.SetBudget(purpose, limit(20))} {
		wantError(t, err, ledger.ErrReplaced, "")
	}
	empty, path := fresh(t, limit(10), ledger.Options{})
	must(t, os.Truncate(path, 0))
	_, err = empty.Reserve(context.Background(), charge(1, 1))
	wantError(t, err, ledger.ErrReplaced, "")
}

// A link could be pointed elsewhere, to a ledger that knows nothing.
func TestLinksAreRefused(t *testing.T) {
	l, path := fresh(t, limit(10), ledger.Options{})
	must(t, l.Close())
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(path, link))
	_, err := ledger.Open(link, ledger.Options{})
	wantError(t, err, ledger.ErrNotLedger, "file")
	dangling := filepath.Join(t.TempDir(), "dangling")
	must(t, os.Symlink(filepath.Join(t.TempDir(), "none"), dangling))
	_, err = ledger.Open(dangling, ledger.Options{})
	wantError(t, err, ledger.ErrNotLedger, "file")
}

// A path is what it was when the ledger was opened, wherever the process goes.
func TestRelativePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("away", 0o700))
	l := reopen(t, "ledger", ledger.Options{Counter: filepath.Join("away", "counter")})
	t.Chdir(t.TempDir())
	must(t, l.SetBudget(purpose, limit(1)))
	reserve(t, l, charge(1, 1))
	if files, err := os.ReadDir("."); err != nil || len(files) != 0 {
		t.Errorf("left %v in the new directory, %v", files, err)
	}
}
