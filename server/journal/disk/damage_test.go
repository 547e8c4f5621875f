package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// fillings are pairs, of less and of more than a block of the log.
func fillings() map[string]string {
	pairs := map[string]string{}
	for n := range 300 {
		key, length := fmt.Sprintf("damage/%04d", n), 100
		if n%10 == 0 {
			length = 40 << 10
		}
		pairs[key] = strings.Repeat(key, length/len(key))
	}
	return pairs
}

// filler commits the fillings, and with the life "closed" closes the journal.
func filler(dir, life string) error {
	j, err := disk.Open(dir, small())
	if err != nil {
		return err
	}
	for key, value := range fillings() {
		if err := put(j, key, []byte(value)); err != nil {
			return err
		}
	}
	if life == "closed" {
		if err := j.Close(); err != nil {
			return err
		}
	}
	return printAndWait()
}

// printAndWait waits to be killed.
func printAndWait() error {
	fmt.Println("done")
	time.Sleep(time.Minute)
	return errors.New("nobody killed this process")
}

// killed runs a child until it prints and kills it.
func killed(t *testing.T, child, dir, life string) {
	t.Helper()
	cmd, out, stderr := start(t, child, dir, life)
	if line, err := out.ReadString('\n'); err != nil || line != "done\n" {
		t.Fatalf("got %q, %v, %s", line, err, stderr)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// image returns the directory of a journal with the fillings, as a kill or Close leaves it.
func image(t *testing.T, life string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "journal")
	killed(t, "filler", dir, life)
	return dir
}

// opened reads everything in a copy of an image after a change to one of its files.
func opened(t *testing.T, image, file string, change func([]byte) []byte) (map[string]string, error) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(image)))
	data, err := os.ReadFile(filepath.Join(dir, file))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, file), change(data), 0o600))
	died := false
	j, err := disk.Open(dir, small().With(nil, func() { died = true }))
	if err != nil {
		return nil, err
	}
	defer j.Close()
	found, err := read(j, "damage/")
	if died {
		t.Errorf("the process would have ended")
	}
	return found, err
}

// filesOf returns the files of an image whose names match a pattern.
func filesOf(t *testing.T, image, pattern string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(image, pattern))
	must(t, err)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			name, err := filepath.Rel(image, path)
			must(t, err)
			names = append(names, name)
		}
	}
	return names
}

// A flipped bit anywhere is an error, or changes nothing that was acknowledged.
func TestAFlippedBitLosesNothingSilently(t *testing.T) {
	t.Parallel() // it waits for the disk
	for _, life := range []string{"killed", "closed"} {
		image, acknowledged := image(t, life), fillings()
		names := append(filesOf(t, image, "engine/*"), filesOf(t, image, "sums")...)
		if len(names) < 6 {
			t.Fatalf("the image has %v", names)
		}
		for _, name := range names {
			errs := 0
			for part := range 3 {
				found, err := opened(t, image, name, func(data []byte) []byte {
					data[(len(data)-1)*part/2] ^= 0x10
					return data
				})
				if err != nil {
					errs++
				} else if !maps.Equal(found, acknowledged) {
					t.Errorf("%s: %s at %d/2: %d of %d keys without an error", life, name, part, len(found), len(acknowledged))
				}
				if err != nil && strings.HasSuffix(name, ".sst") && !errors.Is(err, disk.ErrDamaged) {
					t.Errorf("%s at %d/2: got error %v", name, part, err)
				}
			}
			if errs != 3 && (strings.HasSuffix(name, ".sst") || strings.Contains(name, "MANIFEST")) {
				t.Errorf("%s: %s: %d of 3 flips were noticed", life, name, errs)
			}
		}
	}
}

// The log is what a crash leaves. What the disk was not yet forced to keep may be there in part.
func TestTheEndOfTheLog(t *testing.T) {
	t.Parallel() // it waits for the disk
	image, acknowledged := image(t, "killed"), fillings()
	logs := filesOf(t, image, "engine/*.log")
	newest := logs[len(logs)-1]
	for _, tail := range []string{"", "x", strings.Repeat("\x00", 100_000), strings.Repeat("torn", 20_000)} {
		found, err := opened(t, image, newest, func(data []byte) []byte { return append(data, tail...) })
		if err != nil || !maps.Equal(found, acknowledged) {
			t.Errorf("%d more bytes: %d of %d keys, %v", len(tail), len(found), len(acknowledged), err)
		}
	}
	for _, cut := range []int{1, 200, 50_000} {
		_, err := opened(t, image, newest, func(data []byte) []byte { return data[:len(data)-cut] })
		if !errors.Is(err, disk.ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(newest)+": bytes") {
			t.Errorf("%d bytes less: got error %v", cut, err)
		}
	}
}

func FuzzNote(f *testing.F) {
	dir := f.TempDir()
	j, err := disk.Open(dir, small())
	if err != nil {
		f.Fatal(err)
	}
	defer j.Close()
	data, err := os.ReadFile(filepath.Join(dir, "sums"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:64])
	f.Add(data[512:576])
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		if again, err := disk.DecodeNote(data); err == nil && !bytes.Equal(again, data) && !bytes.Equal(data, make([]byte, 64)) {
			t.Errorf("%x is read as %x", data, again)
		}
	})
}
