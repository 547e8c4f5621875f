package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/boltfile"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/fileowner"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// What is in the directory of a journal.
const (
	fileName    = "journal.db"
	reserveName = "reserve"    // room for deletions
	formatName  = "format"     // says that the directory is a journal, and of which version
	freshName   = "format.new" // becomes the format, see durable.WriteFile
)

// The file holds two buckets.
var (
	headBucket  = []byte("hushgrad journal") // formatKey -> format, totalKey -> total
	pairsBucket = []byte("pairs")            // key -> value and checksum

	formatKey = []byte("format")
	totalKey  = []byte("total")
)

// format is the content of the format file, and what the file of bbolt has at formatKey. A change that
// older versions cannot read gets a new number.
const (
	formatHead    = "hushgrad journal, version "
	formatVersion = "3"
	format        = formatHead + formatVersion + "\n"
)

// kind is what is common to all files of bbolt that must not forget a step.
var kind = boltfile.Kind{
	Locked: ErrLocked, Foreign: ErrNotJournal, Damaged: ErrDamaged,
	Initialise: initialise,
	Check:      check,
	// A list of free pages would be written with each commit. Its length has no bound.
	Options: bolt.Options{NoFreelistSync: true, FreelistType: bolt.FreelistMapType, InitialMmapSize: reserved()},
}

// reserved is how much of the address space a file gets. When a file outgrows it, commits wait for a
// backup to end. Where a mapped file is as long as its map, nothing is reserved.
func reserved() int {
	if strconv.IntSize < 64 || runtime.GOOS == "windows" {
		return 0
	}
	return 8 << 30
}

// Options are the settings of a Journal. The zero value of every field means its default.
type Options struct {
	// Logger receives warnings and errors, never a key or a value. Default slog.Default().
	Logger *slog.Logger
	// MinFree is how many bytes of the disk must stay free: Commit refuses what would leave less.
	// Default 256 MiB.
	MinFree int64

	free func(dir string) (uint64, error) // the free bytes of the disk. Tests have disks of their own.
}

func (o Options) withDefaults() (Options, error) {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.free == nil {
		o.free = freeBytes
	}
	if o.MinFree = cmp.Or(o.MinFree, 256<<20); o.MinFree < 0 {
		return o, fl.Invalid("MinFree", o.MinFree, "must be > 0")
	}
	return o, nil
}

// lockTimeout is how long Open waits for another process to let go of the file.
const lockTimeout = 100 * time.Millisecond

// Open opens the journal in a directory, which it locks, and makes it with mode 0700 if it is
// missing. The error wraps ErrLocked if another process uses the journal, ErrNotJournal if the
// directory is a symbolic link, holds something else, was written by another version, or on Unix
// belongs to another user, and ErrDamaged if the journal's file is missing or is not what was
// written. Cost: reading the whole journal twice.
func Open(dir string, opts Options) (_ *Journal, err error) {
	defer prefix.Error(&err, "disk: open %s", dir)
	if opts, err = opts.withDefaults(); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil { // the process may change its directory
		return nil, err
	}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName)
	if err := makeFiles(dir, path); err != nil {
		return nil, err
	}
	file, err := kind.Open(path, lockTimeout)
	if err != nil {
		return nil, err
	}
	newest, err := kind.Newest(file.Descriptor)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j := &Journal{dir: dir, logger: opts.Logger, file: file, pageBytes: newest.PageSize}
	j.room = &room{dir: dir, minFree: opts.MinFree, free: opts.free, inside: j.inside, missing: j.reserve.missing, logger: opts.Logger}
	j.reserve.path = filepath.Join(dir, reserveName)
	j.keepReserve()
	j.room.look(0)
	return j, nil
}

// makeDir makes the directory if it is missing, and checks that nobody else can change it.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if info, e := os.Lstat(dir); e != nil || info.Mode().IsDir() {
			return err
		}
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("dir", "a symbolic link", "must be the directory itself"))
	case !info.IsDir():
		return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("dir", "a file", "must be a directory"))
	}
	if err := fileowner.Check(info); err != nil {
		return fmt.Errorf("%w: %w", ErrNotJournal, err)
	}
	return nil
}

// makeFiles makes the directory a journal unless it is one. The format file comes last: with it, the
// file of bbolt must be there.
func makeFiles(dir, path string) error {
	text, err := os.ReadFile(filepath.Join(dir, formatName))
	known := err == nil
	if known {
		err = checkFormat(string(text))
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	_, err = os.Lstat(path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && known:
		return fmt.Errorf("%w: %s is missing: put it back, or restore a backup", ErrDamaged, fileName)
	case missing:
		if err := checkEmpty(dir); err != nil {
			return err
		}
		if err := kind.Create(path, lockTimeout); err != nil {
			return err
		}
	case err != nil || known:
		return err
	}
	return writeFormat(dir)
}

// checkEmpty returns nil if a directory without the journal's file can become a journal: it holds
// nothing but what is left of an Open that was interrupted.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name != freshName && name != fileName+".new" && name != fileName { // which another process may have made
			return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("dir", name, "must be empty or a journal, it holds other files"))
		}
	}
	return nil
}

func checkFormat(text string) error {
	version, ours := strings.CutPrefix(text, formatHead)
	switch {
	case !ours:
		return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid(formatName, text, "must begin with %q", formatHead))
	case text != format:
		return fmt.Errorf("%w: %w", ErrNotJournal, fl.Invalid("version", strings.TrimSpace(version), "must be %s: use the version of hushgrad that wrote the journal", formatVersion))
	}
	return nil
}

// writeFormat says that the directory is a journal.
func writeFormat(dir string) error {
	return durable.WriteFile(filepath.Join(dir, formatName), []byte(format), 0o600)
}

// initialise writes an empty journal.
func initialise(tx *bolt.Tx) error {
	if _, err := tx.CreateBucketIfNotExists(pairsBucket); err != nil {
		return err
	}
	head, err := tx.CreateBucketIfNotExists(headBucket)
	if err != nil {
		return err
	}
	return errors.Join(head.Put(formatKey, []byte(format)), total{}.write(tx))
}

// check reads everything in the file. Keys in the order of a tree that leads to each of them are
// checked by bbolt.
func check(tx *bolt.Tx) error {
	head, pairs := tx.Bucket(headBucket), tx.Bucket(pairsBucket)
	if head == nil {
		return ErrNotJournal
	}
	if err := checkFormat(string(head.Get(formatKey))); err != nil {
		return err
	}
	want, err := readTotal(tx)
	if err != nil {
		return err
	}
	if pairs == nil {
		return fmt.Errorf("%w: the pairs are missing", ErrDamaged)
	}
	var got total
	c := pairs.Cursor()
	for key, sealed := c.First(); key != nil; key, sealed = c.Next() {
		if _, err := unseal(key, sealed); err != nil {
			return err
		}
		got.add(sealed)
	}
	if got != want {
		return fmt.Errorf("%w: %w", ErrDamaged, fl.Invalid("pairs", got, "must be %v, as the journal noted", want))
	}
	return nil
}
