package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// holder keeps the journal open until it is killed.
func holder(dir, _ string) error {
	j, err := disk.Open(dir, small())
	if err != nil {
		return err
	}
	defer j.Close()
	fmt.Println("open")
	time.Sleep(time.Minute)
	return nil
}

func TestASecondProcessIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	cmd, out, _ := start(t, "holder", dir, "")
	if line, err := out.ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	_, err := disk.Open(dir, small())
	if !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got error %v", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	j := open(t, dir, small())
	if _, err := disk.Open(dir, small()); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("the same process once more: got error %v", err)
	}
	must(t, j.Close())
	must(t, open(t, dir, small()).Close())
}

// A place is refused with an error that names what is wrong, and stays what it was.
func TestPlacesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir string) error // dir is a closed journal
		want  error
		says  string
	}{
		"a link": {func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".away"), os.Symlink(dir+".away", dir))
		}, disk.ErrNotJournal, "symbolic link"},
		"a link to nothing": {func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Symlink(dir+".away", dir))
		}, disk.ErrNotJournal, "symbolic link"},
		"a file": {func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		}, disk.ErrNotJournal, "must be a directory"},
		"another user's": {func(dir string) error { return os.Chown(dir, 12345, -1) }, disk.ErrNotJournal, "owner"},
		"other files": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "format")), os.Remove(filepath.Join(dir, "journal.db")), os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
		}, disk.ErrNotJournal, "must be empty or a journal"},
		"a later version": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "format"), []byte("hushgrad journal, version 4\n"), 0o600)
		}, disk.ErrNotJournal, `version: got "4", rule: must be 3: use the version`},
		"an earlier version": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "format"), []byte("hushgrad journal, version 2\n"), 0o600)
		}, disk.ErrNotJournal, `version: got "2", rule: must be 3: use the version`},
		"another format": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "format"), []byte("PNG\n"), 0o600)
		}, disk.ErrNotJournal, "format"},
		"no file":    {func(dir string) error { return os.Remove(filepath.Join(dir, "journal.db")) }, disk.ErrDamaged, "journal.db is missing"},
		"empty file": {func(dir string) error { return os.Truncate(filepath.Join(dir, "journal.db"), 0) }, disk.ErrDamaged, "empty"},
		"another file": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "journal.db"), bytes.Repeat([]byte("text "), 9999), 0o600)
		}, disk.ErrNotJournal, ""},
		"another program's file": {func(dir string) error {
			path := filepath.Join(dir, "journal.db")
			must(t, os.Remove(path))
			db, err := bolt.Open(path, 0o600, nil)
			must(t, err)
			return errors.Join(db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("b")); return err }), db.Close())
		}, disk.ErrNotJournal, ""},
		"a link to the file": {func(dir string) error {
			path := filepath.Join(dir, "journal.db")
			return errors.Join(os.Rename(path, path+".away"), os.Symlink(path+".away", path))
		}, disk.ErrNotJournal, "symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits for the disk
			if name == "another user's" && (os.Geteuid() != 0 || runtime.GOOS == "windows") {
				t.Skip("only root can give a directory away")
			}
			j, dir := fresh(t)
			must(t, put(j, "key", nil))
			must(t, j.Close())
			must(t, c.spoil(dir))
			before := listing(t, filepath.Dir(dir))
			_, err := disk.Open(dir, small())
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got error %v, want %v that says %q", err, c.want, c.says)
			}
			if after := listing(t, filepath.Dir(dir)); after != before {
				t.Errorf("there is now\n%s\nand was\n%s", after, before)
			}
		})
	}
}

// listing returns the names of all files below a directory.
func listing(t *testing.T, dir string) string {
	t.Helper()
	text := ""
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		text += path + "\n"
		return err
	}))
	return text
}

// A directory is made with its parents for this user only. What an interrupted Open left is no
// obstacle, and a path is what it was wherever the process goes.
func TestPlacesThatAreMade(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	j := open(t, filepath.Join("a", "b"), small())
	if info, err := os.Stat(filepath.Join(root, "a", "b")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
	t.Chdir(t.TempDir())
	must(t, put(j, "key", []byte("value")))
	must(t, j.Close())
	for _, name := range []string{"format.new", "journal.db.new"} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		must(t, open(t, dir, small()).Close())
	}
	if got, err := open(t, filepath.Join(root, "a", "b"), small()).Get([]byte("key")); err != nil || string(got) != "value" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOptionsBelowZeroAreRefused(t *testing.T) {
	if _, err := disk.Open(t.TempDir(), disk.Options{MinFree: -1}); err == nil || !strings.Contains(err.Error(), "MinFree") {
		t.Errorf("got error %v", err)
	}
}
