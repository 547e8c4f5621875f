package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// A file gets its mode in place of the mode of the file that was there.
func TestReplaceModeSetsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o600, 0o666, 0o640} { // no umask leaves the second one alone
		err := ReplaceMode(t.Context(), path, mode, []byte(mode.String()))
		text, readErr := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || readErr != nil || string(text) != mode.String() || statErr != nil || runtime.GOOS != "windows" && info.Mode() != mode {
			t.Errorf("%v: %v; text %q, %v; %v, %v", mode, err, text, readErr, info, statErr)
		}
	}
}

// At a path there is the old file or the new one, and nothing else beside it.
func TestReplaceWritesAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Skip(err)
	}
	calls := 0
	broken := errors.New("broken")
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx  context.Context
		path string
		err  error // of write
		want error // of Replace
		text string
	}{
		{t.Context(), path, nil, nil, "1"}, {t.Context(), link, nil, nil, "2"}, {t.Context(), path, broken, broken, "2"},
		{ended, path, nil, context.Canceled, "2"}, {t.Context(), path, nil, nil, "5"},
	} {
		calls++
		err := Replace(c.ctx, c.path, func(w io.Writer) error {
			_, err := fmt.Fprint(w, calls)
			return errors.Join(err, c.err)
		})
		text, readErr := os.ReadFile(path)
		entries, listErr := os.ReadDir(dir)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || readErr != nil || string(text) != c.text || listErr != nil || len(entries) != 2 {
			t.Errorf("call %d: error %v; file %q, %v; %d entries, %v", calls, err, text, readErr, len(entries), listErr)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	// A file that is made the usual way has the same permissions.
	usual := filepath.Join(t.TempDir(), "usual")
	if err := os.WriteFile(usual, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	other, otherErr := os.Stat(usual)
	if err != nil || otherErr != nil || info.Mode() != other.Mode() {
		t.Errorf("permissions %v and %v, %v, %v", info, other, err, otherErr)
	}
	// A file that was closed to others stays so.
	if err := errors.Join(os.Chmod(path, 0o600), Replace(t.Context(), path, func(io.Writer) error { return nil })); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, %v, want the old file's permissions", info, err)
	}
	absent := filepath.Join(dir, "absent", "file")
	if err := Replace(t.Context(), absent, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), " "+absent+": ") {
		t.Errorf("a directory that is not there: %v, want an error that names the file", err)
	}
}

// What is no file, such as a device, is not replaced by one. The test uses a socket, which
// cannot be written; a device of the machine would be lost if Replace were wrong.
func TestReplaceLeavesDevicesInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	defer listener.Close()
	if err := Replace(t.Context(), path, func(io.Writer) error { return nil }); err == nil {
		t.Error("a socket was written")
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().IsRegular() {
		t.Errorf("the socket has become %v, %v", info, err)
	}
}

func TestReadsAndWritesEndWithTheContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := Reader(ctx, strings.NewReader("ab")), Writer(ctx, io.Discard)
	one := make([]byte, 1)
	if n, err := r.Read(one); n != 1 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	if n, err := w.Write(one); n != 1 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	stop()
	if _, err := r.Read(one); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the end: %v", err)
	}
	if _, err := w.Write(one); !errors.Is(err, context.Canceled) {
		t.Errorf("write after the end: %v", err)
	}
}

func TestAwaitEndsWithTheContext(t *testing.T) {
	if n, err := Await(t.Context(), func() (int, error) { return 3, io.EOF }); n != 3 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	_, err := Await(ctx, func() (int, error) {
		stop()
		<-release
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestPlace(t *testing.T) {
	dir := t.TempDir()
	for path, ok := range map[string]bool{
		filepath.Join(dir, "new"): true, os.DevNull: true, dir: false, filepath.Join(dir, "absent", "new"): false,
	} {
		var p *fl.ParamError
		if err := Place("--out", path); (err == nil) != ok || err != nil && (!errors.As(err, &p) || p.Param != "--out") {
			t.Errorf("%s: error %v, want none: %t", path, err, ok)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v is left, %v", files, err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := Place("--out", filepath.Join(dir, "new")); err == nil || !strings.Contains(err.Error(), "must be in a directory that this user may write to") {
		t.Errorf("a directory of others: %v", err)
	}
}
