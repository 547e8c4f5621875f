package command

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hushgrad/hushgrad/fl"
)

// Replace writes a file beside the one at path and then gives it that name: at path there
// is the old file or the new one, whole, and never a part. When write fails or ctx ends,
// nothing changes. A file that was there keeps its permissions. Links are followed. Devices
// and pipes are written as they are.
//
// The package github.com/google/renameio does the same, but does not build for Windows.
func Replace(ctx context.Context, path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return overwrite(ctx, path, write)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	mode := fs.FileMode(0o666) // before the umask
	if err == nil {
		mode = info.Mode().Perm()
	}
	return beside(ctx, path, mode, func(w io.Writer, _ *os.File) error { return write(w) })
}

// ReplaceMode is Replace for a file with these permissions, whatever the umask is, and whatever
// the permissions of the file that was there. Until the text is written, its owner alone can read it.
func ReplaceMode(ctx context.Context, path string, mode fs.FileMode, text []byte) error {
	return beside(ctx, path, 0o600, func(w io.Writer, f *os.File) error {
		_, err := w.Write(text)
		return errors.Join(err, f.Chmod(mode))
	})
}

// beside writes a file beside the one at path and then gives it that name.
func beside(ctx context.Context, path string, mode fs.FileMode, write func(io.Writer, *os.File) error) (err error) {
	if target, linkErr := filepath.EvalSymlinks(path); linkErr == nil {
		path = target
	}
	name := path + "." + rand.Text() + ".tmp"
	defer func() {
		if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Path == name {
			failed.Path = path // a caller knows no other
		}
	}()
	// os.CreateTemp would keep others from reading, whatever the umask says.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	err = write(Writer(ctx, f), f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Place returns a *fl.ParamError for the flag of that name unless Replace can write a file at
// path, as far as that is known before: call it before a long computation.
func Place(flag, path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fl.Invalid(flag, path, "must be a file, not a directory")
	case err == nil:
		return nil // a ledger is written in its place, and so is a device
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fl.Invalid(flag, path, "must be in a directory that is there")
	}
	probe, err := os.CreateTemp(dir, ".writable-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return fl.Invalid(flag, path, "must be in a directory that this user may write to: %v", err)
	}
	return nil
}

// overwrite writes to what is no file, such as a terminal.
func overwrite(ctx context.Context, path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(Writer(ctx, f)), f.Close())
}

// Writer returns w with the error of ctx for every write after its end, so that long output
// can be interrupted.
func Writer(ctx context.Context, w io.Writer) io.Writer { return writer{ctx, w} }

type writer struct {
	ctx context.Context
	w   io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}

// Reader returns r with the error of ctx for every read after its end, so that long input
// can be interrupted.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Await returns what compute returns, or the error of ctx as soon as that ends. Use it for a
// long computation that takes no context. After an interrupt it is left to run until the
// process exits, so it must not write anything that remains.
func Await[T any](ctx context.Context, compute func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := compute()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		if r.err != nil || ctx.Err() == nil {
			return r.value, r.err
		}
	case <-ctx.Done():
	}
	var nothing T
	return nothing, ctx.Err()
}
