package disk

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// reserveBytes is how much room batches that delete find on a full disk: a deletion writes a few pages for each range.
const reserveBytes = 256 << 10

// reserve is a file that holds nothing. It is removed when batches that delete find no room, and comes back when there is
// some. Who holds commits.writing may make and release it.
type reserve struct {
	path string
	held atomic.Bool
}

// missing is how many bytes must stay free for deletions besides.
func (r *reserve) missing() int64 {
	if r.held.Load() {
		return 0
	}
	return reserveBytes
}

// make writes the file, unless it is there.
func (r *reserve) make() error {
	if info, err := os.Lstat(r.path); err == nil && info.Mode().IsRegular() && info.Size() == reserveBytes {
		r.held.Store(true)
		return nil
	}
	if err := r.release(); err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.Reader, reserveBytes) // which no file system makes shorter
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, r.release())
	}
	r.held.Store(true)
	return nil
}

// release removes the file.
func (r *reserve) release() error {
	r.held.Store(false)
	if err := os.Remove(r.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
