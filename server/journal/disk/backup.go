package disk

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Backup writes a copy of the journal, as it is at one moment during the call, into a new directory
// that Open accepts. The journal serves on meanwhile. The directory must not exist, and its parent
// must. On the disk of the journal the copy shares the files of tables, so that it costs little
// room, and no new room is free while it is kept: move it to another disk. After an error nothing
// is left of it. ctx is looked at between the steps. Cost: copying the log, at most about 64 MiB,
// and on another disk all tables.
func (j *Journal) Backup(ctx context.Context, dir string) (err error) {
	defer prefix.Error(&err, "disk: backup to %s", dir)
	if err := errors.Join(j.usable(), ctx.Err()); err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	engine := filepath.Join(dir, engineName)
	for _, step := range []func() error{
		func() error { return j.db.Checkpoint(engine) },
		func() error { return j.readable(engine) },
		func() error {
			notes, err := noteAll(j.options.fs, engine, j.sums)
			if err != nil {
				return err
			}
			return makeSums(j.options.fs, dir, notes)
		},
		func() error { return writeFormat(j.options.fs, dir) },
		func() error { return syncDir(j.options.fs, filepath.Dir(dir)) },
	} {
		if err := errors.Join(step(), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// readable returns nil if the engine can read the log and the list of tables of a copy.
func (j *Journal) readable(engine string) error {
	f := &failure{logger: j.options.Logger, exit: j.options.exit}
	opts := j.options.pebble(j.options.fs, f)
	opts.ReadOnly = true // an error of the copy's disk must not end the process
	db, err := pebble.Open(engine, opts)
	if err != nil {
		return readError(err)
	}
	return errors.Join(f.err(), db.Close())
}
