package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/privacy/ledger"
)

// sample returns the bytes of a ledger with entries of every state, in more than one
// page, and its entries.
func sample(t *testing.T) ([]byte, []ledger.Entry) {
	t.Helper()
	written.Do(func() { written.data, written.entries = write(t) })
	if written.data == nil {
		t.Fatal("no sample: the first test that asked for one failed")
	}
	return slices.Clone(written.data), written.entries
}

// written is the sample, which takes some hundred writes to the disk.
var written struct {
	sync.Once
	data    []byte
	entries []ledger.Entry
}

func write(t *testing.T) ([]byte, []ledger.Entry) {
	t.Helper()
	l, path := fresh(t, limit(1000), ledger.Options{})
	for n := range uint64(40) {
		id := reserve(t, l, charge(n+1, 1))
		must(t, l.Keep(id, keptBy(id)))
		switch n % 4 {
		case 1:
			must(t, l.Release(id))
		case 2:
			must(t, l.Spend(id))
		case 3:
			must(t, l.Spend(id))
			must(t, l.Receipt(id, "ok"))
		}
	}
	es := entries(t, l)
	must(t, l.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	return data, es
}

// keptBy is what an entry of the sample keeps.
func keptBy(id ledger.ID) []byte { return bytes.Repeat([]byte{byte(id)}, 1+50*int(id)) }

// openBytes opens a file with these contents and returns its entries. What opens is whole.
func openBytes(t *testing.T, data []byte) ([]ledger.Entry, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	must(t, os.WriteFile(path, data, 0o600))
	for range 2 { // a refusal leaves no lock behind
		l, err := ledger.Open(path, ledger.Options{Timeout: 60 * time.Millisecond})
		if err == nil {
			es := entries(t, l)
			for _, e := range es {
				kept, err := l.Kept(e.ID)
				must(t, err)
				if want := keptBy(e.ID); !bytes.Equal(kept, want) && (e.State == ledger.Reserved || e.State == ledger.Spent) {
					t.Errorf("entry %v keeps %x, want %x", e.ID, kept, want)
				}
			}
			return es, l.Close()
		}
		if !errors.Is(err, ledger.ErrDamaged) && !errors.Is(err, ledger.ErrNotLedger) {
			t.Errorf("got error %v, want ErrDamaged or ErrNotLedger", err)
		}
	}
	return nil, ledger.ErrDamaged
}

// A file that was cut off anywhere is refused, unless what is missing was never used: lies beyond the pages that
// its headers count, whether these hold anything or are free.
func TestTruncated(t *testing.T) {
	t.Parallel()
	data, es := sample(t)
	page := int(binary.NativeEndian.Uint32(data[24:]))
	used := page * int(max(binary.NativeEndian.Uint64(data[56:]), binary.NativeEndian.Uint64(data[page+56:])))
	if used <= 2*page || used > len(data) {
		t.Fatalf("%d of %d bytes are used, in pages of %d", used, len(data), page)
	}
	opened := 0
	step := 1021
	if *long {
		step = 509
	}
	for size := 0; size < len(data); size += step {
		got, err := openBytes(t, data[:size])
		if err == nil && !reflect.DeepEqual(got, es) {
			t.Errorf("%d of %d bytes: opened with %d entries, want %d", size, len(data), len(got), len(es))
		}
		if err == nil && size < used {
			t.Errorf("%d of %d bytes in use: opened", size, used)
		}
		if err == nil {
			opened++
		}
	}
	t.Logf("%d bytes; opened after %d cuts", len(data), opened)
	if _, err := openBytes(t, data[:0]); err == nil {
		t.Error("an empty file was taken for a new ledger")
	}
}

// Damaged bytes are noticed, wherever they matter, and never end the process.
func TestDamaged(t *testing.T) {
	t.Parallel()
	data, es := sample(t)
	rng := random(7)
	trials := 75
	if *long {
		trials = 1500
	}
	opened := 0
	for trial := range trials {
		bad := slices.Clone(data)
		switch at := rng.IntN(len(bad)); trial % 3 {
		case 0: // one bit
			bad[at] ^= 1 << rng.IntN(8)
		case 1: // a page's header, and what follows it
			at = at &^ 4095
			for i := range bad[at : at+64] {
				bad[at+i] = byte(rng.Uint32())
			}
		case 2: // a lost page
			clear(bad[at&^4095:][:4096])
		}
		got, err := openBytes(t, bad)
		if err == nil && !reflect.DeepEqual(got, es) {
			t.Errorf("trial %d: opened with other entries", trial)
		}
		if err == nil {
			opened++
		}
	}
	t.Logf("%d of %d opened", opened, trials)
}

// bbolt would go back to the older header, and forget the last step.
func TestDamagedHeader(t *testing.T) {
	t.Parallel()
	data, _ := sample(t)
	for page := range 2 {
		for offset := range 64 {
			bad := slices.Clone(data)
			bad[page*4096+16+offset] ^= 0x10
			if _, err := openBytes(t, bad); err == nil {
				t.Errorf("header %d, byte %d: damage not noticed", page, offset)
			}
		}
	}
}

// The headers are written in turn. If one is older than the step before the other, it was put back.
func TestHeadersOfDistantSteps(t *testing.T) {
	data, _ := sample(t)
	order := binary.NativeEndian
	for page := range 2 {
		bad := slices.Clone(data)
		header := bad[page*4096+16:]
		order.PutUint64(header[48:], order.Uint64(header[48:])+4) // still of its own parity
		sum := fnv.New64a()
		sum.Write(header[:56])
		order.PutUint64(header[56:], sum.Sum64())
		if _, err := openBytes(t, bad); !errors.Is(err, ledger.ErrDamaged) {
			t.Errorf("header %d is four steps ahead: %v, want ErrDamaged", page, err)
		}
	}
}

// A page that is in use and listed as free would be overwritten by the next step; a list of free
// pages that claims to be longer than its page is not read.
func TestDamagedFreelist(t *testing.T) {
	t.Parallel()
	data, _ := sample(t)
	order := binary.NativeEndian
	newer := data[16:]
	if order.Uint64(data[4096+16+48:]) > order.Uint64(newer[48:]) {
		newer = data[4096+16:]
	}
	root, list := order.Uint64(newer[16:]), int(order.Uint64(newer[32:]))*4096
	for name, damage := range map[string]func(page []byte){
		"in use":     func(page []byte) { order.PutUint64(page[16:], root) },
		"long":       func(page []byte) { order.PutUint16(page[10:], 60_000) },
		"very long":  func(page []byte) { order.PutUint16(page[10:], 0xFFFF); order.PutUint64(page[16:], 1<<62) },
		"other page": func(page []byte) { order.PutUint16(page[8:], 2) },
	} {
		bad := slices.Clone(data)
		damage(bad[list:])
		if _, err := openBytes(t, bad); err == nil {
			t.Errorf("%s: damage not noticed", name)
		}
	}
}

// edit changes a closed ledger behind its back.
func edit(t *testing.T, path string, do func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, errors.Join(db.Update(do), db.Close()))
}

// sealed is a record under a key, as it is stored.
func sealed(key, text string) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(key), key, text))
	return append(sum[:], text...)
}

// Sound bbolt files whose records are not.
func TestInconsistentRecords(t *testing.T) {
	key := func(n byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, n} }
	for name, c := range map[string]struct {
		edit func(tx *bolt.Tx) error
		want error
	}{
		"missing in the middle": {func(tx *bolt.Tx) error { return tx.Bucket([]byte("entries")).Delete(key(2)) }, ledger.ErrDamaged},
		"missing at the end":    {func(tx *bolt.Tx) error { return tx.Bucket([]byte("entries")).Delete(key(3)) }, ledger.ErrDamaged},
		"copied": {func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("entries"))
			return b.Put(key(2), bytes.Clone(b.Get(key(1))))
		}, ledger.ErrDamaged},
		"shortened": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("entries")).Put(key(2), []byte("x"))
		}, ledger.ErrDamaged},
		"no budget":    {func(tx *bolt.Tx) error { return tx.Bucket([]byte("budgets")).Delete([]byte(purpose)) }, ledger.ErrDamaged},
		"other budget": {func(tx *bolt.Tx) error { return tx.Bucket([]byte("budgets")).Put([]byte(purpose), make([]byte, 99)) }, ledger.ErrDamaged},
		"no budgets":   {func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("budgets")) }, ledger.ErrDamaged},
		"no entries":   {func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("entries")) }, ledger.ErrDamaged},
		"no head":      {func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("hushgrad ledger")) }, ledger.ErrNotLedger},
		"no version":   {func(tx *bolt.Tx) error { return tx.Bucket([]byte("hushgrad ledger")).Delete([]byte("format")) }, ledger.ErrDamaged},
		"other version": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("hushgrad ledger")).Put([]byte("format"), sealed("format", `{"version":5}`))
		}, ledger.ErrNotLedger},
		"version 0": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("hushgrad ledger")).Put([]byte("format"), sealed("format", `{}`))
		}, ledger.ErrNotLedger},
		"unknown name": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("budgets")).Put([]byte(purpose), sealed(purpose, `{"epsilon":10,"delta":0,"relation":"replace-one","decentral":{}}`))
		}, ledger.ErrDamaged},
		"two records": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("budgets")).Put([]byte(purpose), sealed(purpose, `{"epsilon":10,"delta":0,"relation":"replace-one"}}`))
		}, ledger.ErrDamaged},
		"bad central budget": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("budgets")).Put([]byte(purpose), sealed(purpose, `{"epsilon":10,"delta":0,"relation":"replace-one","central":{"epsilon":1,"delta":1,"relation":"zero-out"}}`))
		}, ledger.ErrDamaged},
		"central budget": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("budgets")).Put([]byte(purpose), sealed(purpose, `{"epsilon":10,"delta":0,"relation":"replace-one","central":{"epsilon":1,"delta":0,"relation":"zero-out"}}`))
		}, nil},
		"local for central": {func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("entries"))
			text := bytes.Replace(b.Get(key(1))[sha256.Size:], []byte(`"reserved_at"`), []byte(`"central":{"model":"local","epsilon":1,"delta":0,"relation":"replace-one"},"reserved_at"`), 1)
			return b.Put(key(1), sealed(string(key(1)), string(text)))
		}, ledger.ErrDamaged},
		"nothing kept": {func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("kept")) }, ledger.ErrDamaged},
		"kept by nobody": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("kept")).Put(key(9), sealed(string(key(9)), `"AA=="`))
		}, ledger.ErrDamaged},
		"kept by a short id": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("kept")).Put(key(1)[1:], sealed(string(key(1)[1:]), `"AA=="`))
		}, ledger.ErrDamaged},
		"kept by an ended": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("kept")).Put(key(3), sealed(string(key(3)), `"AA=="`))
		}, ledger.ErrDamaged},
		"kept by another": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("kept")).Put(key(1), sealed(string(key(2)), `"AA=="`))
		}, ledger.ErrDamaged},
		"kept, but no bytes": {func(tx *bolt.Tx) error { return tx.Bucket([]byte("kept")).Put(key(1), sealed(string(key(1)), "")) }, ledger.ErrDamaged},
		"kept by a reserved": {func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("kept")).Put(key(1), sealed(string(key(1)), `"AA=="`))
		}, nil},
		"nothing at all": {func(*bolt.Tx) error { return nil }, nil},
	} {
		l, path := fresh(t, limit(10), ledger.Options{})
		for n := range uint64(3) {
			reserve(t, l, charge(n+1, 1))
		}
		must(t, l.Release(3))
		must(t, l.Close())
		edit(t, path, c.edit)
		l, err := ledger.Open(path, ledger.Options{})
		if !errors.Is(err, c.want) || name == "missing in the middle" && !strings.Contains(err.Error(), "entry 2: damaged ledger: missing") {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if err == nil {
			must(t, l.Close())
		}
	}
}

func TestNotALedger(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	_, err := ledger.Open(dir, ledger.Options{})
	wantError(t, err, ledger.ErrNotLedger, "")
	must(t, os.WriteFile(path, bytes.Repeat([]byte("text "), 9999), 0o600))
	_, err = ledger.Open(path, ledger.Options{})
	wantError(t, err, ledger.ErrNotLedger, "")
	other := filepath.Join(dir, "other.db")
	edit(t, other, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("b")); return err })
	_, err = ledger.Open(other, ledger.Options{})
	wantError(t, err, ledger.ErrNotLedger, "")
	_, err = ledger.Open(filepath.Join(dir, "no", "ledger"), ledger.Options{})
	wantError(t, err, fs.ErrNotExist, "")
	_, err = ledger.Open(filepath.Join(dir, "none"), ledger.Options{MustExist: true})
	wantError(t, err, fs.ErrNotExist, "")
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("MustExist made a file")
	}
	_, err = ledger.Open(path, ledger.Options{Timeout: -1})
	wantError(t, err, nil, "Timeout")
}
