package disk_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/server/journal/disk"
	bolt "go.etcd.io/bbolt"
)

const pageBytes = 4096

// fillings are pairs of many pages: of large values, and of more small ones than one branch leads to.
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

// filled returns the file of a closed journal that has the fillings, and some pages that are free.
func filled(t *testing.T) []byte {
	t.Helper()
	j, dir := fresh(t)
	pairs := fillings()
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		value := pairs[key]
		must(t, put(j, key, []byte(value)))
		if strings.HasSuffix(key, "7") {
			must(t, put(j, "gone/"+key, []byte(value)))
		}
	}
	must(t, remove(j, "gone/"))
	must(t, j.Close())
	return used(t, filepath.Join(dir, "journal.db"))
}

// used returns the pages of a file that its headers count. What follows was never written.
func used(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	order := binary.NativeEndian
	return data[:pageBytes*max(order.Uint64(data[56:]), order.Uint64(data[pageBytes+56:]))]
}

// opened opens a journal with this file, and returns its fillings, each of which is also found by its key.
func opened(t *testing.T, data []byte) (map[string]string, error) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "journal.db"), data, 0o600))
	j, err := disk.Open(dir, small())
	if err != nil {
		return nil, err
	}
	defer j.Close()
	found, err := read(j, "damage/")
	for key := range found {
		if value, err := j.Get([]byte(key)); err != nil || string(value) != found[key] {
			t.Errorf("%s is not found by its key: %v", key, err)
		}
	}
	return found, err
}

// Damage is named, wherever it matters, or nothing is missing.
func TestDamageIsNamedOrNothingIsMissing(t *testing.T) {
	t.Parallel() // it waits for the disk
	data, want := filled(t), fillings()
	rng := rand.New(rand.NewPCG(7, 1))
	trials, named := 100, 0
	if *long {
		trials = 3000
	}
	for trial := range trials {
		bad := slices.Clone(data)
		at := rng.IntN(len(bad))
		page := bad[at&^(pageBytes-1):][:pageBytes]
		switch trial % 5 {
		case 0: // one bit
			bad[at] ^= 1 << rng.IntN(8)
		case 1: // the head of a page and what follows it
			for i := range page[:64] {
				page[i] = byte(rng.Uint32())
			}
		case 2: // a lost page
			clear(page)
		case 3: // the rest of the file
			bad = bad[:at]
		case 4: // another page of the file
			copy(page, data[rng.IntN(len(data))&^(pageBytes-1):])
		}
		found, err := opened(t, bad)
		switch {
		case err == nil && !maps.Equal(found, want):
			t.Errorf("trial %d: %d of %d keys without an error", trial, len(found), len(want))
		case err != nil && !errors.Is(err, disk.ErrDamaged) && !errors.Is(err, disk.ErrNotJournal):
			t.Errorf("trial %d: got error %v", trial, err)
		case err != nil:
			named++
		}
	}
	if t.Logf("%d of %d are named", named, trials); named < trials/4 {
		t.Error("too few")
	}
}

// bbolt would go back to the older header, and forget the last batch.
func TestADamagedHeaderIsNamed(t *testing.T) {
	t.Parallel() // it waits for the disk
	data := filled(t)
	for header := range 2 {
		for at := 0; at < 64; at += 7 {
			bad := slices.Clone(data)
			bad[header*pageBytes+16+at] ^= 0x10
			if _, err := opened(t, bad); !errors.Is(err, disk.ErrDamaged) && !errors.Is(err, disk.ErrNotJournal) {
				t.Errorf("header %d, byte %d: got error %v", header, at, err)
			}
		}
	}
}

// A branch whose key is not what was written leads loops to every pair, and some keys to none.
func TestAKeyThatLeadsElsewhereIsNamed(t *testing.T) {
	t.Parallel() // it waits for the disk
	data, want := filled(t), fillings()
	const branch, element = 0x01, 16
	order, tried, named := binary.NativeEndian, 0, 0
	for page := 2 * pageBytes; page < len(data); page += pageBytes {
		if order.Uint64(data[page:]) != uint64(page/pageBytes) || order.Uint16(data[page+8:]) != branch {
			continue
		}
		for i := range int(order.Uint16(data[page+10:])) {
			if !*long && i%8 != 0 {
				continue
			}
			at := page + 16 + i*element
			key := at + int(order.Uint32(data[at:])) + int(order.Uint32(data[at+4:])) - 1
			for _, later := range []bool{true, false} { // the next keys go astray, or those before
				bad := slices.Clone(data)
				if later {
					bad[key] += 3
				} else {
					bad[key]--
				}
				found, err := opened(t, bad)
				switch tried++; {
				case errors.Is(err, disk.ErrDamaged):
					named++
				case err != nil || !maps.Equal(found, want):
					t.Errorf("page %d, key %d: %d of %d keys, %v", page/pageBytes, i, len(found), len(want), err)
				}
			}
		}
	}
	if t.Logf("%d of %d are named", named, tried); named == 0 {
		t.Error("none of the keys matters")
	}
}

// A crash before the header of a commit is written leaves any of its pages on disk, or none. That is not
// damage, and the journal is as it was before.
func TestACrashBeforeTheHeaderIsNotDamage(t *testing.T) {
	t.Parallel() // it waits for the disk
	j, dir := fresh(t)
	path := filepath.Join(dir, "journal.db")
	for key, value := range fillings() {
		must(t, put(j, key, []byte(value)))
	}
	must(t, put(j, "damage/new", make([]byte, 100<<10)))
	must(t, remove(j, "damage/00"))
	// The second commit may write over what the first one freed, so its state is the one between them.
	between := used(t, path)
	for n := range 50 {
		must(t, put(j, fmt.Sprintf("damage/more/%d", n), make([]byte, 1000)))
		after := used(t, path)
		before := between
		between = after
		if n%5 != 0 {
			continue
		}
		rng := rand.New(rand.NewPCG(uint64(n), 2))
		torn := slices.Clone(after)
		for page := 0; page < len(torn); page += pageBytes {
			if header := page < 2*pageBytes; page < len(before) && (header || rng.IntN(2) == 0) {
				copy(torn[page:page+pageBytes], before[page:])
			}
		}
		found, err := opened(t, torn)
		if _, ok := found[fmt.Sprintf("damage/more/%d", n)]; err != nil || ok || len(found) != 201+n {
			t.Errorf("commit %d: %d pairs, %v", n, len(found), err)
		}
	}
}

// A sound file of bbolt with other pairs than the journal had.
func TestOtherPairsAreNamed(t *testing.T) {
	for what, edit := range map[string]func(pairs *bolt.Bucket) error{
		"a pair is missing": func(pairs *bolt.Bucket) error { return pairs.Delete([]byte("key/1")) },
		"a pair is there twice": func(pairs *bolt.Bucket) error {
			return pairs.Put([]byte("key/3"), bytes.Clone(pairs.Get([]byte("key/1"))))
		},
		"pairs have changed places": func(pairs *bolt.Bucket) error {
			one, two := bytes.Clone(pairs.Get([]byte("key/1"))), bytes.Clone(pairs.Get([]byte("key/2")))
			return errors.Join(pairs.Put([]byte("key/1"), two), pairs.Put([]byte("key/2"), one))
		},
		"a pair is an older one": func(pairs *bolt.Bucket) error { return pairs.Put([]byte("key/1"), old) },
	} {
		j, dir := fresh(t)
		must(t, put(j, "key/1", []byte("older")))
		must(t, put(j, "key/1", []byte("one")))
		must(t, put(j, "key/2", []byte("two")))
		must(t, j.Close())
		db, err := bolt.Open(filepath.Join(dir, "journal.db"), 0o600, nil)
		must(t, err)
		must(t, errors.Join(db.Update(func(tx *bolt.Tx) error { return edit(tx.Bucket([]byte("pairs"))) }), db.Close()))
		if _, err := disk.Open(dir, small()); !errors.Is(err, disk.ErrDamaged) {
			t.Errorf("%s: got error %v", what, err)
		}
	}
}

// old is "older" with the checksum that it had under key/1.
var old = disk.Seal([]byte("key/1"), []byte("older"))

// What is damaged below an open journal is an error of Get and of a loop.
func TestDamageBelowAnOpenJournalIsNamed(t *testing.T) {
	j, dir := fresh(t)
	value := bytes.Repeat([]byte("needle"), 1000)
	must(t, put(j, "damage/1", value))
	must(t, put(j, "other", []byte("value")))
	path := filepath.Join(dir, "journal.db")
	data, err := os.ReadFile(path)
	must(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("x"), int64(bytes.LastIndex(data, value)))
	must(t, errors.Join(err, f.Close()))
	_, getErr := j.Get([]byte("damage/1"))
	_, scanErr := read(j, "damage/")
	for _, err := range []error{getErr, scanErr} {
		if !errors.Is(err, disk.ErrDamaged) {
			t.Errorf("got error %v", err)
		}
	}
	if value, err := j.Get([]byte("other")); err != nil || string(value) != "value" {
		t.Errorf("got %q, %v", value, err)
	}
}

// A copy with damage is refused, as the journal itself.
func TestDamageOfACopyIsNamed(t *testing.T) {
	j, dir := fresh(t)
	must(t, put(j, "damage/1", bytes.Repeat([]byte("needle"), 1000)))
	to := filepath.Join(filepath.Dir(dir), "copy")
	must(t, j.Backup(t.Context(), to))
	path := filepath.Join(to, "journal.db")
	data, err := os.ReadFile(path)
	must(t, err)
	data[bytes.LastIndex(data, []byte("needle"))] ^= 1
	must(t, os.WriteFile(path, data, 0o600))
	if _, err := disk.Open(to, small()); !errors.Is(err, disk.ErrDamaged) {
		t.Errorf("got error %v", err)
	}
}
