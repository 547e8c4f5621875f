package translog

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hushgrad/hushgrad/fl"
)

// Source is where the files of a log are: a [Folder], or a URL in package site. The error of a file that is not there wraps fs.ErrNotExist.
type Source interface {
	// Read returns a file of at most limit bytes.
	Read(ctx context.Context, path string, limit int64) ([]byte, error)
}

// Bounded reads at most limit bytes. path is in the error.
func Bounded(path string, in io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fl.Invalid(path, fmt.Sprintf("more than %d bytes", limit), "must have at most %d", limit)
	}
	return data, err
}

// Folder is a log on a disk.
type Folder string

// Read implements Source.
func (d Folder) Read(_ context.Context, path string, limit int64) ([]byte, error) {
	f, err := os.Open(filepath.Join(string(d), filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Bounded(f.Name(), f, limit)
}
