package disk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// stepping is a file system with one change at a time, before and after which it calls step.
type stepping struct {
	vfs.FS
	mu   *sync.Mutex
	step func(what string)
}

func (s stepping) change(what string, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step("before " + what)
	err := do()
	s.step("after " + what)
	return err
}

func (s stepping) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = s.change("the creation of "+name, func() (err error) { f, err = s.FS.Create(name, c); return err })
	return steppingFile{f, s, name}, err
}

func (s stepping) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = s.change("the reuse of "+old, func() (err error) { f, err = s.FS.ReuseForWrite(old, name, c); return err })
	return steppingFile{f, s, name}, err
}

func (s stepping) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (f vfs.File, err error) {
	f, err = s.FS.OpenReadWrite(name, c, opts...)
	return steppingFile{f, s, name}, err
}

func (s stepping) Remove(name string) error {
	return s.change("the removal of "+name, func() error { return s.FS.Remove(name) })
}

func (s stepping) Rename(old, name string) error {
	return s.change("the renaming of "+old, func() error { return s.FS.Rename(old, name) })
}

type steppingFile struct {
	vfs.File
	fs   stepping
	name string
}

func (f steppingFile) Write(p []byte) (n int, err error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.File.Write(p)
}

func (f steppingFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.fs.change(fmt.Sprintf("a write to %s at %d", f.name, at), func() (err error) { n, err = f.File.WriteAt(p, at); return err })
	return n, err
}

// A kill between any two changes of the file system is not damage, and loses nothing acknowledged.
// The changes are all of two lives of a journal, with new logs and reused ones, tables and lists.
func TestAKillBetweenAnyTwoChangesIsNotDamage(t *testing.T) {
	t.Parallel() // it waits for the disk
	type moment struct {
		what, dir    string // dir is a copy of the files, or ""
		acknowledged int
	}
	var (
		moments []moment
		mu      sync.Mutex // of acknowledged
		count   int
	)
	images := t.TempDir()
	dir := filepath.Join(t.TempDir(), "journal")
	key := func(n int) string { return fmt.Sprintf("step/%04d", n) }
	s := stepping{vfs.Default, new(sync.Mutex), func(what string) {
		mu.Lock()
		at := count
		mu.Unlock()
		if strings.Contains(what, "/sums at ") && strings.HasPrefix(what, "before") {
			return // as after the step before
		}
		image := ""
		if *long || len(moments)%4 == 0 { // one in four is opened
			image = filepath.Join(images, fmt.Sprint(len(moments)))
			must(t, os.CopyFS(image, os.DirFS(dir)))
		}
		moments = append(moments, moment{what, image, at})
	}}
	puts := 8
	if *long {
		puts = 14
	}
	for range 2 {
		j := open(t, dir, small().Tables(smallTables).With(s, nil))
		for range puts {
			must(t, put(j, key(count), make([]byte, 30<<10)))
			mu.Lock()
			count++
			mu.Unlock()
		}
		must(t, j.Close())
	}
	reused := 0
	for _, m := range moments {
		if strings.Contains(m.what, "the reuse of") {
			reused++
		}
		if m.dir == "" {
			continue
		}
		j, err := disk.Open(m.dir, small())
		if err != nil {
			t.Errorf("killed %s: %v", strings.ReplaceAll(m.what, dir, ""), err)
			continue
		}
		found, err := read(j, "step/")
		for n := range m.acknowledged {
			if _, ok := found[key(n)]; !ok {
				err = fmt.Errorf("%s is lost", key(n))
			}
		}
		if err != nil {
			t.Errorf("killed %s: %v", strings.ReplaceAll(m.what, dir, ""), err)
		}
		must(t, j.Close())
	}
	if t.Logf("%d moments, %d of reused logs", len(moments), reused); reused == 0 {
		t.Errorf("no log was reused")
	}
}
