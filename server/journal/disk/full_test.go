package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// crowded is a file system that somebody else fills and empties.
type crowded struct {
	vfs.FS
	full atomic.Bool
	free uint64
}

// GetDiskUsage implements vfs.FS.
func (c *crowded) GetDiskUsage(string) (vfs.DiskUsage, error) {
	if c.full.Load() {
		return vfs.DiskUsage{}, nil
	}
	return vfs.DiskUsage{AvailBytes: c.free}, nil
}

// newCrowded returns a file system with 1 GiB of room. While it is full, writes find room only if
// the ballast of the journal is gone.
func newCrowded(dir string) *crowded {
	c := &crowded{free: 1 << 30}
	c.FS = errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !c.full.Load() || op.Kind != errorfs.OpFileWrite && op.Kind != errorfs.OpCreate {
			return nil
		}
		if _, err := os.Stat(filepath.Join(dir, "ballast")); err == nil {
			return syscall.ENOSPC
		}
		return nil
	}))
	return c
}

// tally is what happened to commits.
type tally struct {
	removing      sync.RWMutex // held while keys are removed
	mu            sync.Mutex
	acknowledged  map[string]string
	refused       map[string]bool
	acknowledging atomic.Int64
}

// traffic commits from 8 goroutines until stop, and keeps a tally.
func traffic(t *testing.T, j *disk.Journal, stop *atomic.Bool) (*tally, *sync.WaitGroup) {
	ta, wg := &tally{acknowledged: map[string]string{}, refused: map[string]bool{}}, new(sync.WaitGroup)
	for g := range 8 {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				key := fmt.Sprintf("full/%d/%06d", g, n)
				value := bytes.Repeat([]byte(key), 100)
				ta.removing.RLock() // a key is noted before it can be removed
				err := put(j, key, value)
				ta.mu.Lock()
				switch {
				case err == nil:
					ta.acknowledging.Add(1)
					ta.acknowledged[key] = string(value)
				case errors.Is(err, journal.ErrFull):
					ta.refused[key] = true
				default:
					t.Errorf("got error %v", err)
					stop.Store(true)
				}
				ta.mu.Unlock()
				ta.removing.RUnlock()
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	return ta, wg
}

// until waits for what must happen at some time.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// fillAndEmpty lets a disk become full and empty again below traffic, twice, and checks that what
// was acknowledged is there and what was refused is not.
func fillAndEmpty(t *testing.T, dir string, opts disk.Options, fill, empty func()) {
	j := open(t, dir, opts)
	var stop atomic.Bool
	ta, wg := traffic(t, j, &stop)
	defer func() { stop.Store(true); wg.Wait() }()
	more := func() {
		before := ta.acknowledging.Load()
		until(t, "commits are acknowledged", func() bool { return ta.acknowledging.Load() > before+100 })
	}
	for range 2 {
		more()
		fill()
		until(t, "commits are refused", func() bool {
			ta.mu.Lock()
			defer ta.mu.Unlock()
			return len(ta.refused) > 0
		})
		until(t, "the figures say so", func() bool { m, err := j.Metrics(); return err == nil && m.Full })
		ta.removing.Lock()
		must(t, remove(j, "full/0/"))
		ta.mu.Lock()
		for key := range ta.acknowledged {
			if key[:7] == "full/0/" {
				delete(ta.acknowledged, key)
			}
		}
		ta.mu.Unlock()
		ta.removing.Unlock()
		empty()
		more()
		if info, err := os.Stat(filepath.Join(dir, "ballast")); err != nil || info.Size() != opts.BallastBytes {
			t.Errorf("the ballast is %v, %v", info, err)
		}
	}
	stop.Store(true)
	wg.Wait()
	for range 2 { // before and after opening it again
		found, err := read(j, "full/")
		must(t, err)
		for key, value := range ta.acknowledged {
			if found[key] != value {
				t.Fatalf("%s is lost", key)
			}
		}
		for key := range ta.refused {
			if _, ok := found[key]; ok {
				t.Fatalf("%s is there and was refused", key)
			}
		}
		must(t, j.Close())
		j = open(t, dir, opts)
	}
}

func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel() // it waits for the disk
	dir := filepath.Join(t.TempDir(), "journal")
	disc := newCrowded(dir)
	opts := small().With(disc, func() { t.Error("the process ends") })
	fillAndEmpty(t, dir, opts, func() { disc.full.Store(true) }, func() { disc.full.Store(false) })
}

// MinFree stays free, whatever a batch needs and however much was taken since the last look.
func TestMinFreeStaysFree(t *testing.T) {
	t.Parallel() // it waits for the disk
	dir := filepath.Join(t.TempDir(), "journal")
	disc := newCrowded(dir)
	opts := small().With(disc, nil)
	opts.MinFree, opts.BallastBytes = 100_000, 1000 // a look holds for 250 bytes
	j := open(t, dir, opts)
	for _, c := range []struct {
		free  uint64
		bytes int
		full  bool
	}{{110_000, 6000, true}, {108_500, 4000, false}, {102_000, 4000, true}, {100_000, 300, true}, {1_000_000, 400_000, false}} {
		disc.free = c.free
		time.Sleep(110 * time.Millisecond) // how long a look holds
		if err := put(j, "key", make([]byte, c.bytes)); errors.Is(err, journal.ErrFull) != c.full || !c.full && err != nil {
			t.Errorf("%d bytes, in log and table, of %d: got error %v", c.bytes, c.free-100_000, err)
		}
	}
	disc.free = 100_000
	time.Sleep(110 * time.Millisecond)
	if err := put(j, "key", make([]byte, 300)); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got error %v", err)
	}
	must(t, remove(j, "key"))
}

// A journal says that there is no room before anybody writes, what would be enough, and that there is room again.
func TestRoomIsKnownBeforeAWrite(t *testing.T) {
	t.Parallel() // it waits for the disk
	disc := newCrowded(filepath.Join(t.TempDir(), "journal"))
	opts := small().With(disc, nil)
	opts.MinFree, opts.BallastBytes = 3000, 500
	disc.free = 3400
	j := open(t, filepath.Join(t.TempDir(), "journal"), opts)
	for _, c := range []struct {
		free uint64
		want string
	}{{3400, "must be more than 3500: 3000 stay free, and 500 are set aside"}, {3600, ""}, {2000, "must be more than 3000"}, {3001, ""}} {
		disc.free = c.free
		time.Sleep(110 * time.Millisecond) // how long a look holds
		if err := j.Room(); errors.Is(err, journal.ErrFull) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d free bytes: got error %v, want %q", c.free, err, c.want)
		}
	}
}
