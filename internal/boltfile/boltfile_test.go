package boltfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/hushgrad/hushgrad/internal/boltfile"
)

var (
	errLocked  = errors.New("locked")
	errForeign = errors.New("foreign")
	errDamaged = errors.New("damaged")
)

// kind is files of a bucket with a large value and one with small values.
func kind(keepFree bool) boltfile.Kind {
	return boltfile.Kind{
		Locked: errLocked, Foreign: errForeign, Damaged: errDamaged,
		Initialise: func(tx *bolt.Tx) error {
			large, err := tx.CreateBucket([]byte("large"))
			if err != nil {
				return err
			}
			small, err := large.CreateBucket([]byte("small"))
			if err != nil {
				return err
			}
			return errors.Join(large.Put([]byte("key"), make([]byte, 5000)), small.Put([]byte("key"), []byte("value")))
		},
		Check: func(tx *bolt.Tx) error {
			return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return walk(b) })
		},
		Options: bolt.Options{PageSize: 4096, NoFreelistSync: !keepFree},
	}
}

// walk looks at everything in a bucket, and finds each key.
func walk(b *bolt.Bucket) error {
	return b.ForEach(func(key, value []byte) error {
		if value == nil {
			return walk(b.Bucket(key))
		}
		if got := b.Get(key); len(got) != len(value) {
			return fmt.Errorf("%q is not found", key)
		}
		return nil
	})
}

func made(t testing.TB, k boltfile.Kind) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := k.Create(path, time.Second); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileOpensWithAndWithoutAListOfFreePages(t *testing.T) {
	for _, keepFree := range []bool{true, false} {
		k := kind(keepFree)
		path := made(t, k)
		for n := range 3 {
			f, err := k.Open(path, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.Open(path, time.Millisecond); !errors.Is(err, errLocked) {
				t.Errorf("a file that is open: got error %v", err)
			}
			before, err := k.Newest(f.Descriptor)
			err = errors.Join(err, f.Update(func(tx *bolt.Tx) error {
				return tx.Bucket([]byte("large")).Put([]byte{byte(n + 1)}, make([]byte, 9000))
			}))
			after, e := k.Newest(f.Descriptor)
			if err := errors.Join(err, e, f.Close()); err != nil || after.Transaction != before.Transaction+1 {
				t.Errorf("got %d after %d, %v", after.Transaction, before.Transaction, err)
			}
		}
	}
}

// A panic in bbolt, and a read beyond the mapped memory, are errors.
func TestGuard(t *testing.T) {
	k := kind(true)
	if err := k.Guard(func() error { panic("page 7") }); !errors.Is(err, errDamaged) {
		t.Errorf("got error %v", err)
	}
	if err := k.Guard(func() error { return errForeign }); err != errForeign {
		t.Errorf("got error %v", err)
	}
}

// Whatever a file holds, Verify ends, and what it finds sound can be read.
func FuzzVerify(f *testing.F) {
	for _, keepFree := range []bool{true, false} {
		data, err := os.ReadFile(made(f, kind(keepFree)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "fuzzed")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := kind(true).Verify(path, time.Second)
		if err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errForeign) {
			t.Errorf("got error %v", err)
		}
	})
}
