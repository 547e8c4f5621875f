package disk

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Backup writes a copy of the journal, as it is at one moment during the call, into a new directory
// that Open accepts. The journal serves on meanwhile. The directory must not exist, and its parent
// must. After an error nothing is left of it. Cost: writing the whole journal, and reading the copy
// twice.
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
	path := filepath.Join(dir, fileName)
	if err := j.copy(ctx, path); err != nil {
		return err
	}
	if _, err := kind.Verify(path, lockTimeout); err != nil {
		return err
	}
	return errors.Join(writeFormat(dir), durable.SyncAbove(dir))
}

// copy writes the journal to a new file.
func (j *Journal) copy(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = kind.Guard(func() error {
		return j.file.View(func(tx *bolt.Tx) error {
			_, err := tx.WriteTo(cancellable{ctx, f})
			return cmp.Or(ctx.Err(), err)
		})
	})
	return errors.Join(err, f.Sync(), f.Close())
}

// cancellable is a file that is written until the context ends.
type cancellable struct {
	ctx  context.Context
	file *os.File
}

func (c cancellable) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.file.Write(p)
}
