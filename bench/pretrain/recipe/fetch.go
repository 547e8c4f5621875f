package recipe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

// Limits of one package.
const (
	maxPackage = 32 << 20 // bytes unpacked
	maxFont    = 8 << 20
	packTime   = 2 * time.Minute
)

// Fetch returns the content of a font: from the cache directory, or once from the npm
// registry through the command npm, which then must be installed. The bytes count only if
// their SHA-256 is the pinned one.
func Fetch(ctx context.Context, cache string, f Font) ([]byte, error) {
	kept := filepath.Join(cache, path.Base(f.File))
	if b, err := os.ReadFile(kept); err == nil && f.verify(b) == nil {
		return b, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	b, err := pack(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("recipe: %s%s: %w", scope, f.Package, err)
	}
	if err := os.WriteFile(kept, b, 0o644); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	return b, nil
}

// verify says whether b is the pinned content.
func (f Font) verify(b []byte) error {
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != f.SHA256 {
		return fl.Invalid("SHA-256 of "+f.File, got, "must be %s", f.SHA256)
	}
	return nil
}

// pack has npm download the package, and reads the font out of it. No script of the package
// runs.
func pack(ctx context.Context, f Font) ([]byte, error) {
	dir, err := os.MkdirTemp("", "hushgrad-font-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithTimeout(ctx, packTime)
	defer stop()
	npm := exec.CommandContext(ctx, "npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", dir, scope+f.Package+"@"+f.Version)
	npm.Dir, npm.WaitDelay = dir, time.Second
	var stderr bytes.Buffer
	npm.Stderr = &stderr
	if err := npm.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("npm pack: %w: %s", err, strings.Join(strings.Fields(stderr.String()), " "))
	}
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return nil, errors.Join(err, fl.Invalid("npm pack", len(packed), "must leave one package"))
	}
	file, err := os.Open(packed[0])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return f.unpack(file)
}

// unpack reads the font out of a package, and checks it.
func (f Font) unpack(r io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(io.LimitReader(z, maxPackage)); ; {
		h, err := t.Next()
		if err != nil {
			return nil, fmt.Errorf("%s is not in the package: %w", f.File, err)
		}
		if h.Name != "package/"+f.File {
			continue
		}
		if h.Size > maxFont {
			return nil, fl.Invalid(f.File, h.Size, "must be at most %d bytes", maxFont)
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		return b, f.verify(b)
	}
}
