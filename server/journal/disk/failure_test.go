package disk_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// failing is a file system whose writes to files with a suffix fail while on is set.
func failing(suffix string, err error, on *atomic.Bool) vfs.FS {
	return errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if on.Load() && strings.HasSuffix(op.Path, suffix) && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return err
		}
		return nil
	}))
}

// broken prints what was acknowledged before and after the log cannot be written.
func broken(dir, how string) error {
	cause := map[string]error{"io": syscall.EIO, "full": syscall.ENOSPC}[how]
	var on atomic.Bool
	j, err := disk.Open(dir, disk.Options{BallastBytes: 1 << 10}.With(failing(".log", cause, &on), nil))
	if err != nil {
		return err
	}
	for n := range 10 {
		on.Store(n == 5)
		if err := put(j, fmt.Sprintf("broken/%d", n), nil); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

// When the log cannot be written and the ballast does not help, the process ends with a line in
// the log and acknowledges nothing.
func TestAFailedLogEndsTheProcess(t *testing.T) {
	for _, how := range []string{"io", "full"} {
		dir := filepath.Join(t.TempDir(), "journal")
		cmd, out, stderr := start(t, "broken", dir, how)
		printed, err := io.ReadAll(out)
		must(t, err)
		err = cmd.Wait()
		if string(printed) != "0\n1\n2\n3\n4\n" || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: acknowledged %q, then %v", how, printed, err)
		}
		if !strings.Contains(stderr.String(), "the process ends") {
			t.Errorf("%s: the log says %q", how, stderr)
		}
		found, err := read(open(t, dir, small()), "broken/")
		if err != nil || len(found) < 5 {
			t.Errorf("%s: %d keys are there, %v", how, len(found), err)
		}
	}
}

// When a table cannot be written, everything is refused from then on, and nothing is lost.
func TestAFailedTableStopsTheJournal(t *testing.T) {
	t.Parallel() // it waits for the disk
	var on atomic.Bool
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, small().With(failing(".sst", syscall.EIO, &on), func() { t.Error("the process ends") }))
	must(t, put(j, "key", []byte("value")))
	on.Store(true)
	acknowledged := 0
	until(t, "the journal stops", func() bool {
		err := put(j, fmt.Sprintf("table/%d", acknowledged), make([]byte, 64<<10))
		if err == nil {
			acknowledged++
		}
		return errors.Is(err, disk.ErrFailed)
	})
	on.Store(false)
	_, getErr := j.Get([]byte("key"))
	_, scanErr := read(j, "k")
	for _, err := range []error{getErr, scanErr, put(j, "key", nil), remove(j, "key")} {
		if !errors.Is(err, disk.ErrFailed) || !errors.Is(err, syscall.EIO) {
			t.Errorf("got error %v", err)
		}
	}
	must(t, j.Close())
	j = open(t, dir, small())
	if found, err := read(j, "table/"); err != nil || len(found) != acknowledged {
		t.Errorf("%d of %d keys are there, %v", len(found), acknowledged, err)
	}
}

// A commit that waits for a table would wait for ever after a failure. Whichever comes first, the
// process ends.
func TestAFailureWhileCommitsWaitEndsTheProcess(t *testing.T) {
	failure := errors.New("cannot write")
	for name, happens := range map[string]func(*pebble.EventListener){
		"waits, then fails": func(e *pebble.EventListener) {
			e.WriteStallBegin(pebble.WriteStallBeginInfo{})
			e.BackgroundError(failure)
		},
		"fails, then waits": func(e *pebble.EventListener) {
			e.BackgroundError(failure)
			e.WriteStallBegin(pebble.WriteStallBeginInfo{})
		},
		"fails": func(e *pebble.EventListener) { e.BackgroundError(failure) },
		"waits": func(e *pebble.EventListener) { e.WriteStallBegin(pebble.WriteStallBeginInfo{}) },
		"waits for room": func(e *pebble.EventListener) {
			e.WriteStallBegin(pebble.WriteStallBeginInfo{})
			e.BackgroundError(syscall.ENOSPC)
		},
		"waited, then fails": func(e *pebble.EventListener) {
			e.WriteStallBegin(pebble.WriteStallBeginInfo{})
			e.WriteStallEnd()
			e.BackgroundError(failure)
		},
	} {
		ended := false
		happens(disk.Events(slog.New(slog.NewTextHandler(io.Discard, nil)), func() { ended = true }))
		if want := strings.Contains(name, "waits") && strings.Contains(name, "fails"); ended != want {
			t.Errorf("%s: the process ended is %v, want %v", name, ended, want)
		}
	}
}

// What goes well is not in the log.
func TestTheLogIsQuiet(t *testing.T) {
	var text strings.Builder
	opts := small()
	opts.Logger = slog.New(slog.NewTextHandler(&text, nil))
	dir := filepath.Join(t.TempDir(), "journal")
	for range 2 {
		j := open(t, dir, opts)
		must(t, put(j, "key", make([]byte, 1<<20)))
		must(t, j.Backup(t.Context(), filepath.Join(t.TempDir(), "copy")))
		must(t, j.Close())
	}
	if text.String() != "" {
		t.Errorf("got %s", text.String())
	}
}
