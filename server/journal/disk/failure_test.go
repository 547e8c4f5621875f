package disk_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// After a failed write it is unknown what is on disk: nothing is acknowledged any more, and what was, is
// there when the journal is opened anew.
func TestAFailedWriteStopsTheJournal(t *testing.T) {
	j, dir := fresh(t)
	for n := range 5 {
		must(t, put(j, fmt.Sprintf("key/%d", n), []byte("value")))
	}
	must(t, j.Break())
	for range 2 {
		_, getErr := j.Get([]byte("key/1"))
		_, scanErr := read(j, "key/")
		_, metricsErr := j.Metrics()
		if err := put(j, "key/5", nil); !errors.Is(err, journal.ErrFailed) {
			t.Errorf("got error %v", err)
		}
		for _, err := range []error{getErr, scanErr, metricsErr, j.Room(), remove(j, "key"), j.Backup(t.Context(), dir+".copy")} {
			if failed := j.Room() != nil; failed && err != nil && !errors.Is(err, journal.ErrFailed) {
				t.Errorf("got error %v", err)
			}
		}
	}
	if _, err := j.Get([]byte("key/1")); !errors.Is(err, journal.ErrFailed) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("got error %v", err)
	}
	_ = j.Close()
	if found, err := read(open(t, dir, small()), "key/"); err != nil || len(found) != 5 {
		t.Errorf("%d of 5 keys are there, %v", len(found), err)
	}
}

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

// limited commits until the system refuses a write, and prints what was acknowledged.
func limited(dir, _ string) error {
	j, err := disk.Open(dir, small())
	if err != nil {
		return err
	}
	if err := limitFiles(4 << 20); err != nil {
		return err
	}
	for n := 0; ; n++ {
		err := put(j, fmt.Sprintf("limited/%04d", n), make([]byte, 40<<10))
		if err == nil {
			fmt.Println(n)
			continue
		}
		if !errors.Is(err, journal.ErrFailed) {
			return fmt.Errorf("got error %w", err)
		}
		return j.Close()
	}
}

// A write that the system refuses, for another reason than room, stops the journal.
func TestAWriteThatTheSystemRefuses(t *testing.T) {
	if limitFiles == nil {
		t.Skip("the system has no limit for files")
	}
	dir := filepath.Join(t.TempDir(), "journal")
	cmd, out, stderr := start(t, "limited", dir, "")
	printed, err := io.ReadAll(out)
	must(t, err)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	acknowledged := strings.Count(string(printed), "\n")
	found, err := read(open(t, dir, small()), "limited/")
	if err != nil || acknowledged < 10 || len(found) < acknowledged {
		t.Errorf("%d of %d keys are there, %v", len(found), acknowledged, err)
	}
}
