package ledger_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// A clock that runs backwards changes time stamps and nothing else.
func TestClockBackwards(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	l, _ := fresh(t, limit(2), ledger.Options{Now: func() time.Time { now = now.Add(-24 * time.Hour); return now }})
	a, b := reserve(t, l, charge(1, 1)), reserve(t, l, charge(2, 1))
	must(t, l.Spend(a))
	es := entries(t, l)
	if es[0].ID != a || es[1].ID != b || a >= b || !es[0].SpentAt.Before(es[1].ReservedAt) {
		t.Errorf("got %+v", es)
	}
	_, err := l.Reserve(context.Background(), charge(3, 1))
	wantError(t, err, ledger.ErrBudget, "epsilon")
}

func TestClosed(t *testing.T) {
	l, _ := fresh(t, limit(2), ledger.Options{})
	must(t, l.Close())
	_, reserveErr := l.Reserve(context.Background(), charge(1, 1))
	_, readErr := l.Entries(purpose)
	for _, err := range []error{reserveErr, readErr, l.Spend(1), l.SetBudget(purpose, limit(1))} {
		wantError(t, err, fs.ErrClosed, "")
	}
	must(t, l.Close())
}

// What an interrupted creation leaves behind is taken up, and never in place of a ledger.
func TestInterruptedCreation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	must(t, os.WriteFile(path+".new", nil, 0o600))
	l := reopen(t, path, ledger.Options{})
	must(t, l.SetBudget(purpose, limit(1)))
	reserve(t, l, charge(1, 1))
	must(t, l.Close())
	must(t, os.WriteFile(path+".new", []byte("rubbish"), 0o600))
	l = reopen(t, path, ledger.Options{})
	if n := len(entries(t, l)); n != 1 {
		t.Errorf("got %d entries, want 1", n)
	}
	broken := filepath.Join(t.TempDir(), "ledger")
	must(t, os.WriteFile(broken+".new", []byte("rubbish"), 0o600))
	if _, err := ledger.Open(broken, ledger.Options{}); err == nil || !strings.Contains(err.Error(), "ledger.new, which") {
		t.Errorf("got %v, want an error that names the file to delete", err)
	}
}

func TestNames(t *testing.T) {
	got := fmt.Sprint(ledger.Reserved, ledger.Spent, ledger.Acknowledged, ledger.Released, ledger.State(9), ledger.ID(7))
	if want := "reserved spent acknowledged released State(9) 7"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A process that waits to create a ledger while another process does must not replace it.
func TestCreatedMeanwhile(t *testing.T) {
	l, made := fresh(t, limit(1), ledger.Options{})
	reserve(t, l, charge(1, 1))
	must(t, l.Close())
	path := filepath.Join(t.TempDir(), "ledger")
	other, err := bolt.Open(path+".new", 0o600, nil)
	must(t, err)
	opened := make(chan error)
	go func() {
		l, err := ledger.Open(path, ledger.Options{Timeout: time.Minute})
		if err == nil {
			err = l.Close()
		}
		opened <- err
	}()
	time.Sleep(100 * time.Millisecond) // less only makes the test easier to pass
	must(t, os.Rename(made, path))
	must(t, other.Close())
	must(t, <-opened)
	if n := len(entries(t, reopen(t, path, ledger.Options{}))); n != 1 {
		t.Errorf("got %d entries, want 1: the ledger was replaced", n)
	}
}
