package disk

import (
	"hash/crc32"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// notedFS is a file system that notes what the engine forces to disk.
type notedFS struct {
	vfs.FS
	sums   *sums
	engine string // the directory whose files are noted
}

// name returns the name of a noted file.
func (n notedFS) name(path string) (name string, noted bool) {
	name = n.PathBase(path)
	return name, n.PathDir(path) == n.engine && isNoted(name)
}

// Create implements vfs.FS.
func (n notedFS) Create(path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return n.make(path, func() (vfs.File, error) { return n.FS.Create(path, category) })
}

// ReuseForWrite implements vfs.FS.
func (n notedFS) ReuseForWrite(old, path string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if name, noted := n.name(old); noted {
		if err := n.sums.drop(name); err != nil {
			return nil, err
		}
	}
	return n.make(path, func() (vfs.File, error) { return n.FS.ReuseForWrite(old, path, category) })
}

// make makes a file that is noted once its name is on disk.
func (n notedFS) make(path string, do func() (vfs.File, error)) (vfs.File, error) {
	name, noted := n.name(path)
	if !noted {
		return do()
	}
	if err := n.sums.begin(name); err != nil {
		return nil, err
	}
	f, err := do()
	if err != nil {
		_ = n.sums.drop(name) // it has no note yet, so nothing is written
		return nil, err
	}
	n.sums.made(name)
	return &notedFile{File: f, sums: n.sums, note: note{name: name}}, nil
}

// Remove implements vfs.FS. The engine removes a marker after it has made the next one, which must
// have its note before.
func (n notedFS) Remove(path string) error {
	if name, noted := n.name(path); noted {
		if isMarker(name) {
			made := n.sums.unkept()
			if err := syncDir(n.FS, n.engine); err != nil {
				return err
			}
			if err := n.sums.keep(made); err != nil {
				return err
			}
		}
		if err := n.sums.drop(name); err != nil {
			return err
		}
	}
	return n.FS.Remove(path)
}

// OpenDir implements vfs.FS.
func (n notedFS) OpenDir(path string) (vfs.File, error) {
	f, err := n.FS.OpenDir(path)
	if err != nil || path != n.engine {
		return f, err
	}
	return &notedDir{File: f, sums: n.sums}, nil
}

// notedDir is the engine's directory.
type notedDir struct {
	vfs.File
	sums *sums
}

// Sync implements vfs.File.
func (d *notedDir) Sync() error {
	made := d.sums.unkept()
	if err := d.File.Sync(); err != nil {
		return err
	}
	return d.sums.keep(made)
}

// notedFile is written from its beginning to its end, by one goroutine at a time.
type notedFile struct {
	vfs.File
	sums *sums
	note note
}

// Write implements vfs.File.
func (f *notedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.note.length += uint64(n)
	f.note.sum = crc32.Update(f.note.sum, castagnoli, p[:n])
	return n, err
}

// Sync implements vfs.File.
func (f *notedFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	return f.sums.synced(f.note)
}

// SyncData implements vfs.File.
func (f *notedFile) SyncData() error {
	if err := f.File.SyncData(); err != nil {
		return err
	}
	return f.sums.synced(f.note)
}

// SyncTo implements vfs.File.
func (f *notedFile) SyncTo(length int64) (fullSync bool, err error) {
	fullSync, err = f.File.SyncTo(length)
	if err != nil || !fullSync {
		return fullSync, err
	}
	return true, f.sums.synced(f.note)
}
