package tlsfile

import (
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
)

// follower holds what is in files that belong together.
type follower[T any] struct {
	paths  []string
	parse  func(texts [][]byte) (T, error)
	logger *slog.Logger

	mu    sync.Mutex
	seen  []fs.FileInfo // when they were read last
	value T             // of the last files that could be used
}

// load reads the files for the first time.
func (f *follower[T]) load() (err error) {
	f.seen = f.look()
	f.value, err = f.read()
	return err
}

// current returns what is in the files now, or was when they could be used last. A file that
// is written after it was looked at looks different the next time, so that a half that was
// read is not kept.
func (f *follower[T]) current() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.look()
	if slices.EqualFunc(now, f.seen, same) {
		return f.value
	}
	f.seen = now
	value, err := f.read()
	if err != nil {
		f.logger.Warn("new TLS files cannot be used: the old ones stay in force", "files", f.paths, "error", err)
		return f.value
	}
	f.logger.Info("new TLS files are in force", "files", f.paths)
	f.value = value
	return value
}

// look returns what the file system says of the files, nil for those that are not there.
func (f *follower[T]) look() []fs.FileInfo {
	infos := make([]fs.FileInfo, len(f.paths))
	for i, path := range f.paths {
		if info, err := os.Stat(path); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// same says whether a file was left alone, as far as the file system knows.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (f *follower[T]) read() (value T, err error) {
	texts := make([][]byte, len(f.paths))
	for i, path := range f.paths {
		if texts[i], err = read(path); err != nil {
			return value, err
		}
	}
	return f.parse(texts)
}
