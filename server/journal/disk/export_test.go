package disk

import (
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// With returns options with a file system, and with what happens instead of the end of the process.
func (o Options) With(fs vfs.FS, exit func()) Options {
	o.fs, o.exit = fs, exit
	return o
}

// Events returns what the engine calls of a journal that exits so.
func Events(logger *slog.Logger, exit func()) *pebble.EventListener {
	return (&failure{logger: logger, exit: exit}).events()
}

// DecodeNote is for fuzzing.
func DecodeNote(data []byte) (again []byte, err error) {
	n, err := decodeNote(data)
	return n.encode(), err
}

// Tables returns options with tables of a size in memory.
func (o Options) Tables(bytes uint64) Options {
	o.memTable = bytes
	return o
}
