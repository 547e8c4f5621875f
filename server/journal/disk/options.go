package disk

import (
	"cmp"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hushgrad/hushgrad/fl"
)

// Options are the settings of a Journal. The zero value of every field means its default.
type Options struct {
	// Logger receives warnings and errors, never a key or a value. Default slog.Default().
	Logger *slog.Logger
	// MinFree is how many bytes of the disk must stay free: Commit refuses what would leave less.
	// It must hold what is written beside the changes themselves, which is up to 64 MiB for
	// tables that are merged. Default 256 MiB.
	MinFree int64
	// BallastBytes is the size of the ballast, a file that is removed when the disk is full all the
	// same, so that what was begun can be finished. Default 64 MiB.
	BallastBytes int64
	// CacheBytes is the memory for blocks of tables that were read. Default 16 MiB.
	CacheBytes int64

	fs       vfs.FS // the file system. Default vfs.Default. Tests inject failures here.
	exit     func() // ends the process. Default os.Exit(1).
	memTable uint64 // the size of a table in memory. Default 16 MiB. Tests have small ones.
}

func (o Options) withDefaults() (Options, error) {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	o.fs = cmp.Or(o.fs, vfs.Default)
	if o.exit == nil {
		o.exit = func() { os.Exit(1) }
	}
	// At most two tables in memory wait to be written.
	o.memTable = cmp.Or(o.memTable, 16<<20)
	o.MinFree = cmp.Or(o.MinFree, 256<<20)
	o.BallastBytes = cmp.Or(o.BallastBytes, 64<<20)
	o.CacheBytes = cmp.Or(o.CacheBytes, 16<<20)
	for name, value := range map[string]int64{"MinFree": o.MinFree, "BallastBytes": o.BallastBytes, "CacheBytes": o.CacheBytes} {
		if value < 0 {
			return o, fl.Invalid(name, value, "must be > 0")
		}
	}
	return o, nil
}

// pebble returns the options of the engine.
func (o Options) pebble(fs vfs.FS, f *failure) *pebble.Options {
	opts := &pebble.Options{
		FS:                          fs,
		Logger:                      f,
		EventListener:               f.events(),
		FormatMajorVersion:          pebble.FormatValueSeparation,
		CacheSize:                   o.CacheBytes,
		MemTableSize:                o.memTable,
		MemTableStopWritesThreshold: 2,
		MaxOpenFiles:                500,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		// A closed round is deleted as one range, whose room is wanted soon.
		FlushDelayDeleteRange: flushDelay,
	}
	for i := range opts.Levels {
		// Reports are random bytes, which do not shrink.
		opts.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return opts
}
