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

// Create implements vfs.FS.
func (n notedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := n.FS.Create(name, category)
	return n.noted(f, name), err
}

// ReuseForWrite implements vfs.FS.
func (n notedFS) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := n.FS.ReuseForWrite(old, name, category)
	return n.noted(f, name), err
}

func (n notedFS) noted(f vfs.File, path string) vfs.File {
	name := n.PathBase(path)
	k, ok := kindOf(name)
	if f == nil || !ok || n.PathDir(path) != n.engine {
		return f
	}
	return &notedFile{File: f, sums: n.sums, kind: k, note: note{name: name}}
}

// notedFile is written from its beginning to its end, by one goroutine at a time.
type notedFile struct {
	vfs.File
	sums *sums
	kind kind
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
	return f.sums.write(f.kind, f.note)
}

// SyncData implements vfs.File.
func (f *notedFile) SyncData() error {
	if err := f.File.SyncData(); err != nil {
		return err
	}
	return f.sums.write(f.kind, f.note)
}

// SyncTo implements vfs.File.
func (f *notedFile) SyncTo(length int64) (fullSync bool, err error) {
	fullSync, err = f.File.SyncTo(length)
	if err != nil || !fullSync {
		return fullSync, err
	}
	return true, f.sums.write(f.kind, f.note)
}
