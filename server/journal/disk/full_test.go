package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// crowded is a disk that somebody else can fill.
type crowded struct {
	full atomic.Bool
	left atomic.Uint64
}

func newCrowded() *crowded {
	c := new(crowded)
	c.left.Store(1 << 30)
	return c
}

func (c *crowded) free(string) (uint64, error) {
	if c.full.Load() {
		return 0, nil
	}
	return c.left.Load(), nil
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
		removed := remove(j, "full/0/")
		ta.mu.Lock()
		for key := range ta.acknowledged {
			if key[:7] == "full/0/" {
				delete(ta.acknowledged, key)
			}
		}
		ta.mu.Unlock()
		ta.removing.Unlock()
		must(t, removed)
		empty()
		more()
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
	disc := newCrowded()
	fillAndEmpty(t, filepath.Join(t.TempDir(), "journal"), small().WithFree(disc.free),
		func() { disc.full.Store(true) }, func() { disc.full.Store(false) })
}

// lookHolds is a little longer than a look at the disk holds.
const lookHolds = 110 * time.Millisecond

// MinFree stays free, whatever a batch needs and however much was taken since the last look.
func TestMinFreeStaysFree(t *testing.T) {
	t.Parallel() // it waits for the disk
	disc := newCrowded()
	opts := small().WithFree(disc.free)
	opts.MinFree = 1_000_000
	j := open(t, filepath.Join(t.TempDir(), "journal"), opts)
	for _, c := range []struct {
		free  uint64
		bytes int
		full  bool
	}{{1_100_000, 100_000, true}, {1_200_000, 90_000, false}, {1_000_000, 300_000, true}, {10_000_000, 4_000_000, false}} {
		disc.left.Store(c.free)
		time.Sleep(lookHolds)
		if err := put(j, fmt.Sprint(c.bytes), make([]byte, c.bytes)); errors.Is(err, journal.ErrFull) != c.full || !c.full && err != nil {
			t.Errorf("%d bytes of %d: got error %v", c.bytes, c.free-1_000_000, err)
		}
	}
	disc.left.Store(0)
	time.Sleep(lookHolds)
	must(t, remove(j, "4000000"))
}

// What a look allows is used up.
func TestALookAllowsSoMuch(t *testing.T) {
	disc := newCrowded()
	disc.left.Store(2_000_000)
	opts := small().WithFree(disc.free)
	opts.MinFree = 1000
	j := open(t, filepath.Join(t.TempDir(), "journal"), opts)
	must(t, put(j, "first", make([]byte, 700_000)))
	disc.left.Store(500_000)
	if err := put(j, "second", make([]byte, 350_000)); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got error %v", err)
	}
}

// A deletion makes room for others in the file, while the disk is full.
func TestADeletionMakesRoomOnAFullDisk(t *testing.T) {
	t.Parallel() // it waits for the disk
	disc := newCrowded()
	opts := small().WithFree(disc.free)
	opts.MinFree = 1000
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, opts)
	value := func(n int) string { return fmt.Sprintf("round/%d/%s", n, strings.Repeat("x", 1000)) }
	fill := func(round string) error {
		for n := range 200 {
			if err := put(j, fmt.Sprintf("%s/%03d", round, n), []byte(value(n))); err != nil {
				return err
			}
		}
		return nil
	}
	must(t, fill("old"))
	size := func() uint64 {
		m, err := j.Metrics()
		must(t, err)
		return m.DiskBytes
	}
	before := size()
	disc.left.Store(1000)
	time.Sleep(lookHolds)
	if err := put(j, "new", make([]byte, 100_000)); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got error %v", err)
	}
	must(t, remove(j, "old"))
	until(t, "there is room", func() bool { return j.Room() == nil })
	for range 3 {
		must(t, fill("new"))
		must(t, remove(j, "new"))
	}
	if after := size(); after > before {
		t.Errorf("the file grew from %d to %d bytes", before, after)
	}
}

// A journal says that there is no room before anybody writes, what would be enough, and that there is room again.
func TestRoomIsKnownBeforeAWrite(t *testing.T) {
	t.Parallel() // it waits for the disk
	disc := newCrowded()
	opts := small().WithFree(disc.free)
	opts.MinFree = 1_000_000
	j := open(t, filepath.Join(t.TempDir(), "journal"), opts)
	for _, c := range []struct {
		free uint64
		want string
	}{{900_000, "must be more than 1000000, the least that stays free"}, {1_100_000, ""}, {900_000, "must be more than 1000000"}, {1_000_001, ""}} {
		disc.left.Store(c.free)
		time.Sleep(lookHolds)
		if err := j.Room(); errors.Is(err, journal.ErrFull) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d free bytes: got error %v, want %q", c.free, err, c.want)
		}
	}
}
