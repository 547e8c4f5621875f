//go:build unix

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/privacy/ledger"
)

func init() { children["racer"], children["full"] = racer, fullDisk }

// A second process gets an error, not a hang, and the file once the first has died.
func TestSecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	cmd, out := start(t, "holder", path, 0)
	if line, err := out.ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	_, err := ledger.Open(path, ledger.Options{Timeout: 100 * time.Millisecond})
	wantError(t, err, ledger.ErrLocked, "")
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	reopen(t, path, ledger.Options{})
}

// racer asks for the whole budget, on a ledger that all racers want to create.
func racer(path string, seed uint64) error {
	l, err := ledger.Open(path, ledger.Options{Timeout: time.Minute})
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.SetBudget(purpose, limit(1)); err != nil {
		return err
	}
	switch _, err := l.Reserve(context.Background(), charge(seed, 1)); {
	case errors.Is(err, ledger.ErrBudget):
		fmt.Println("lost")
	case err != nil:
		return err
	default:
		fmt.Println("won")
	}
	return nil
}

func TestRacingProcesses(t *testing.T) {
	for range 3 {
		path := filepath.Join(t.TempDir(), "ledger")
		var results []string
		var readers []func() string
		for n := range uint64(4) {
			_, out := start(t, "racer", path, n+1)
			readers = append(readers, func() string {
				line, _ := out.ReadString('\n')
				return strings.TrimSpace(line)
			})
		}
		for _, read := range readers {
			results = append(results, read())
		}
		if all := strings.Join(results, " "); strings.Count(all, "won") != 1 || strings.Count(all, "lost") != 3 {
			t.Errorf("got %q, want one winner of 4", all)
		}
		l := reopen(t, path, ledger.Options{Timeout: time.Minute})
		if es := entries(t, l); len(es) != 1 {
			t.Errorf("got %d entries, want 1", len(es))
		}
	}
}

// fullDisk lets all writes beyond a size of the file fail, as on a full disk.
func fullDisk(path string, size uint64) error {
	l, err := ledger.Open(path, ledger.Options{})
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ) // the write returns an error instead
	var free syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
		return err
	}
	full := free
	full.Cur = size
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		return err
	}
	// Enough steps to outgrow any file, each in a single page or more.
	ids := []ledger.ID{}
	for n := uint64(100); ; n++ {
		id, err := l.Reserve(context.Background(), charge(n, 1))
		if err != nil {
			if !errors.Is(err, ledger.ErrFailed) {
				return fmt.Errorf("got %w, want ErrFailed", err)
			}
			break
		}
		ids = append(ids, id)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
		return err
	}
	// With room again, what is on disk is still unknown.
	_, reserveErr := l.Reserve(context.Background(), charge(1, 1))
	_, readErr := l.Spent(purpose)
	for _, err := range []error{reserveErr, readErr, l.Spend(1), l.Release(1), l.SetBudget(purpose, limit(1))} {
		if !errors.Is(err, ledger.ErrFailed) {
			return fmt.Errorf("after a failure: got %w, want ErrFailed", err)
		}
	}
	if err := l.Close(); err != nil {
		return err
	}
	fmt.Println(len(ids))
	return nil
}

// Writes fail at once, where the headers still fit, or when the file would have to grow. What
// was reported before is kept, and the next process can go on.
func TestFullDisk(t *testing.T) {
	for _, size := range []uint64{0, 4096, 8192, 32 << 10} {
		l, path := fresh(t, limit(10_000), ledger.Options{})
		first := reserve(t, l, charge(50, 1))
		must(t, l.Close())
		_, out := start(t, "full", path, size)
		var reported int
		if _, err := fmt.Fscan(out, &reported); err != nil {
			t.Fatalf("limit %d: %v", size, err)
		}
		l = reopen(t, path, ledger.Options{})
		got := len(entries(t, l))
		if got < 1+reported || got > 2+reported {
			t.Errorf("limit %d: got %d entries, want %d or one more", size, got, 1+reported)
		}
		if size == 0 && reported != 0 || size == 32<<10 && reported == 0 {
			t.Errorf("limit %d: %d reservations before the first failure", size, reported)
		}
		must(t, l.Spend(first))
		reserve(t, l, charge(1, 1))
	}
}

// A file of another user is that user's to change.
func TestOtherOwnersAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	opts := counted(t)
	l, path := fresh(t, limit(1), opts)
	must(t, l.Close())
	for _, file := range []string{path, opts.Counter} {
		must(t, os.Chown(file, 12345, -1))
		_, err := ledger.Open(path, opts)
		wantError(t, err, ledger.ErrNotLedger, "owner")
		must(t, os.Chown(file, 0, -1))
	}
	must(t, reopen(t, path, opts).Close())
}
