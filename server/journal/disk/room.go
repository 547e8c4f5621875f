package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

// lookEvery is how long a look at the free space holds.
const lookEvery = 100 * time.Millisecond

// room watches the free space of the disk and keeps the ballast.
type room struct {
	fs            vfs.FS
	dir, path     string // path is the ballast's
	minFree, size int64
	logger        *slog.Logger

	mu      sync.Mutex
	looked  time.Time
	granted int64 // bytes that may be written before the next look
	full    error // why there is no room, or nil
	ballast bool  // is in its place
}

func newRoom(dir string, opts Options) *room {
	return &room{
		fs: opts.fs, dir: dir, path: opts.fs.PathJoin(dir, ballastName),
		minFree: opts.MinFree, size: opts.BallastBytes, logger: opts.Logger,
	}
}

// find takes over a ballast that is as large as it should be.
func (r *room) find() {
	info, err := r.fs.Stat(r.path)
	r.ballast = err == nil && info.Size() == r.size
}

// take returns nil if n more bytes leave enough room, or an error that wraps journal.ErrFull. It
// asks the disk once in lookEvery, and sooner after a quarter of the ballast, which must hold what
// is written before the next look.
func (r *room) take(n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := time.Since(r.looked) > lookEvery; old || r.full == nil && n > r.granted {
		r.look(n)
	}
	if r.full != nil {
		return r.full
	}
	if n > r.granted {
		return fmt.Errorf("%w: %w", journal.ErrFull, fl.Invalid("batch", n, "must be at most %d bytes, so that MinFree = %d stay free", r.granted, r.minFree))
	}
	r.granted -= n
	return nil
}

// look asks the disk about room for n bytes, and makes the ballast anew when there is room for it.
func (r *room) look(n int64) {
	r.looked = time.Now()
	was := r.full
	left, full := r.measure()
	r.granted, r.full = min(left, max(n, r.size/4)), full
	switch {
	case was == nil && full != nil:
		r.logger.Error("journal: refuses what adds, since the disk is full", "error", full)
	case was != nil && full == nil:
		r.logger.Warn("journal: has room again", "bytes", left)
	}
}

// measure returns how many bytes there are to write, or why there are none.
func (r *room) measure() (left int64, full error) {
	usage, err := r.fs.GetDiskUsage(r.dir)
	if err != nil {
		return 0, fmt.Errorf("%w: free space unknown: %w", journal.ErrFull, err)
	}
	left = int64(min(usage.AvailBytes, 1<<62)) - r.minFree
	if !r.ballast {
		left -= r.size
	}
	if left <= 0 {
		return 0, fmt.Errorf("%w: %w", journal.ErrFull, fl.Invalid("free bytes of the disk", usage.AvailBytes, "must be more than %s", r.reserve()))
	}
	if !r.ballast {
		if err := r.fill(); err != nil {
			return 0, fmt.Errorf("%w: ballast: %w", journal.ErrFull, err)
		}
		r.ballast = true
	}
	return left, nil
}

// reserve says what has to stay free.
func (r *room) reserve() string {
	if r.ballast {
		return fmt.Sprintf("%d, the least that stays free", r.minFree)
	}
	return fmt.Sprintf("%d: %d stay free, and %d are set aside for a disk that others fill", r.minFree+r.size, r.minFree, r.size)
}

// fill writes the ballast, of random bytes: some file systems keep zeros without using room.
func (r *room) fill() (err error) {
	f, err := r.fs.Create(r.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = r.fs.Remove(r.path)
		}
	}()
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], rand.Uint64())
	source, block := rand.NewChaCha8(seed), make([]byte, 256<<10)
	for left := r.size; left > 0; left -= int64(len(block)) {
		block = block[:min(left, int64(len(block)))]
		_, _ = source.Read(block)
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// release removes the ballast, and refuses what adds until there is room for a new one. The
// file system calls it when a write found no room; the write is then tried once more.
func (r *room) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.fs.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.logger.Error("journal: cannot remove the ballast", "error", err)
	}
	if r.full == nil {
		r.full = fmt.Errorf("%w: the ballast was used", journal.ErrFull)
		r.logger.Error("journal: refuses what adds, since the disk is full", "error", r.full)
	}
	r.ballast, r.granted, r.looked = false, 0, time.Now()
}

// check asks the disk, once in lookEvery, and returns why there is no room, or nil.
func (r *room) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) > lookEvery {
		r.look(1)
	}
	return r.full
}

// isFull says whether what adds was refused at the last look.
func (r *room) isFull() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full != nil
}
