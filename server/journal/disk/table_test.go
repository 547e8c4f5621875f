package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/hushgrad/hushgrad/server/journal/disk"
)

// smallTables is the size of tables in memory at which little traffic makes many logs and tables.
const smallTables = 128 << 10

// loaded are the fillings, and the pairs that are in two logs in the end.
func loaded() map[string]string {
	pairs := fillings()
	for n := range 20 {
		pairs[fmt.Sprintf("damage/late/%02d", n)] = strings.Repeat(fmt.Sprint(n), 5<<10)
	}
	return pairs
}

// loader commits the fillings several times, over several generations of logs and tables and of the
// process. In the end no table can be written, so that two logs are needed.
func loader(dir, _ string) error {
	var stuck atomic.Bool
	opts := small().Tables(smallTables).With(errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if stuck.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			time.Sleep(time.Hour)
		}
		return nil
	})), nil)
	for range 2 {
		j, err := disk.Open(dir, opts)
		if err != nil {
			return err
		}
		for range 3 {
			for key, value := range fillings() {
				if err := put(j, key, []byte(value)); err != nil {
					return err
				}
			}
		}
		if err := j.Close(); err != nil {
			return err
		}
	}
	j, err := disk.Open(dir, opts)
	if err != nil {
		return err
	}
	stuck.Store(true)
	for key, value := range loaded() {
		if _, early := fillings()[key]; early {
			continue
		}
		if err := put(j, key, []byte(value)); err != nil {
			return err
		}
	}
	return printAndWait()
}

// damages are what may happen to a file, by what it was before.
var damages = map[string]func(data []byte) []byte{
	"truncate to nothing": func([]byte) []byte { return nil },
	"truncate to half":    func(data []byte) []byte { return data[:len(data)/2] },
	"truncate by one":     func(data []byte) []byte { return data[:len(data)-1] },
	"flip at the start":   func(data []byte) []byte { return flipped(data, 0) },
	"flip in the middle":  func(data []byte) []byte { return flipped(data, len(data)/2) },
	"flip at the end":     func(data []byte) []byte { return flipped(data, len(data)-1) },
	"zero":                func(data []byte) []byte { return make([]byte, len(data)) },
	"zero a block":        func(data []byte) []byte { return zeroed(data, len(data)/2, 4096) },
}

func flipped(data []byte, at int) []byte {
	out := bytes.Clone(data)
	out[at] ^= 0x10
	return out
}

func zeroed(data []byte, from, n int) []byte {
	out := bytes.Clone(data)
	clear(out[from:min(from+n, len(out))])
	return out
}

// Every file of a journal is removed, and meets every damage, and is exchanged with every other file
// of its kind. Then Open says so, or nothing that was acknowledged is missing.
func TestDamageOfAnyFileIsNamedOrNothingIsMissing(t *testing.T) {
	t.Parallel() // it waits for the disk
	lives := map[string]map[string]string{"killed": fillings()}
	if *long {
		lives["closed"], lives["loaded"] = fillings(), loaded()
	}
	for life, want := range lives {
		t.Run(life, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "journal")
			if life == "loaded" {
				killed(t, "loader", dir, life)
			} else {
				killed(t, "filler", dir, life)
			}
			files := map[string][]byte{}
			must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					name, _ := filepath.Rel(dir, path)
					files[name], err = os.ReadFile(path)
				}
				return err
			}))
			named, harmless := map[string]int{}, map[string]int{}
			try := func(what, name string, spoil func(dir string) error) {
				t.Helper()
				copied := t.TempDir()
				must(t, os.CopyFS(copied, os.DirFS(dir)))
				must(t, spoil(copied))
				died := false
				j, err := disk.Open(copied, small().With(nil, func() { died = true }))
				if err != nil {
					named[name]++
					if kindOf(name) != "OPTIONS" && !errors.Is(err, disk.ErrDamaged) && !errors.Is(err, disk.ErrNotJournal) {
						t.Errorf("%s: got error %v", what, err)
					}
					return
				}
				defer j.Close()
				found, err := read(j, "damage/")
				if harmless[name]++; err != nil || died || !maps.Equal(found, want) {
					t.Errorf("%s: no error of Open, and %d of %d keys, %v", what, len(found), len(want), err)
				}
			}
			for name, data := range files {
				try("remove "+name, name, func(dir string) error { return os.Remove(filepath.Join(dir, name)) })
				for other, content := range files {
					if other > name && kindOf(other) == kindOf(name) && !bytes.Equal(data, content) {
						try("exchange "+name+" and "+other, name, func(dir string) error {
							return errors.Join(os.WriteFile(filepath.Join(dir, name), content, 0o600), os.WriteFile(filepath.Join(dir, other), data, 0o600))
						})
					}
				}
				for damage, change := range damages {
					if len(data) > 0 {
						try(damage+" "+name, name, func(dir string) error {
							return os.WriteFile(filepath.Join(dir, name), change(data), 0o600)
						})
					}
				}
			}
			try("remove all files of the engine", "engine", func(dir string) error { return os.RemoveAll(filepath.Join(dir, "engine")) })
			logs := 0
			for name := range files {
				kind := kindOf(name)
				if kind == ".log" && named[name] > 0 && len(files[name]) > 0 {
					logs++
				}
				if (kind == ".sst" || kind == "MANIFEST" || kind == ".log") && len(files[name]) > 0 && named[name] == 0 {
					t.Errorf("no damage of %s is named", name)
				}
			}
			t.Logf("named %v, harmless %v", named, harmless)
			if life == "loaded" && logs < 2 {
				t.Errorf("%d logs matter, want at least 2", logs)
			}
		})
	}
}

// kindOf returns what a file of a journal has in common with files that could take its place.
func kindOf(name string) string {
	base := filepath.Base(name)
	if ext := filepath.Ext(base); ext == ".log" || ext == ".sst" {
		return ext
	}
	kind, _, _ := strings.Cut(base, "-")
	return kind
}

// Processes are killed at any moment after their start, so also while they open the journal, make
// new logs, and write tables. None of these kills is taken for damage, and nothing acknowledged is lost.
func TestAKillAtAnyMomentIsNotDamage(t *testing.T) {
	t.Parallel() // it waits for the disk
	kills := 8
	if *long {
		kills = 40
	}
	dir := filepath.Join(t.TempDir(), "journal")
	rng := rand.New(rand.NewPCG(5, 31))
	var acknowledged []string
	for life := range kills {
		cmd, out, stderr := start(t, "rotator", dir, fmt.Sprint(life))
		printed := make(chan string)
		go func() {
			var text strings.Builder
			_, _ = out.WriteTo(&text)
			printed <- text.String()
		}()
		time.Sleep(time.Duration(rng.Int64N(int64(150 * time.Millisecond))))
		must(t, cmd.Process.Kill())
		lines := strings.Split(<-printed, "\n")
		err := cmd.Wait()
		if cmd.ProcessState.Exited() || err == nil || stderr.Len() > 0 {
			t.Fatalf("life %d ended by itself: %v, %s", life, err, stderr)
		}
		acknowledged = append(acknowledged, lines[:len(lines)-1]...)
	}
	found, err := read(open(t, dir, small()), "rotator/")
	must(t, err)
	for _, key := range acknowledged {
		if found[key] != rotated(key) {
			t.Errorf("%s is lost", key)
		}
	}
	t.Logf("%d acknowledged, %d found", len(acknowledged), len(found))
}

// rotated is the value of a key.
func rotated(key string) string { return strings.Repeat(key, 500) }

// rotator commits until it is killed, with small tables, and prints what was acknowledged.
func rotator(dir, life string) error {
	j, err := disk.Open(dir, small().Tables(smallTables))
	for n := 0; err == nil; n++ {
		key := fmt.Sprintf("rotator/%s/%06d", life, n)
		if err = put(j, key, []byte(rotated(key))); err == nil {
			fmt.Println(key)
		}
	}
	return err
}
