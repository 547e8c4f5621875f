package seal

import (
	"cmp"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/fileowner"
)

const (
	// pemPrivate is the type of the PEM block of a private key. Its header suiteHeader names the
	// suite. The headers fromHeader and untilHeader are times of a rotation.
	pemPrivate  = "HUSHGRAD SEAL PRIVATE KEY"
	suiteHeader = "Suite"
	fromHeader  = "From"
	untilHeader = "Until"
	keySuffix   = ".key"
	maxKeyFile  = 16 << 10
	maxKeys     = 1000
)

// Keys are the private keys of a server, in a directory with one file for each. The files end in
// .key, hold PEM, and can be read by their owner alone. Only their age counts: the newest file has
// the key of new rounds, unless Rotate has set a time that is to come. It is safe for concurrent use, also by several processes.
type Keys struct {
	dir string

	mu   sync.Mutex
	ends map[ending]time.Time // of keys, as this process measures them: setting the clock removes no key
}

// ending is a key that Rotate has ended at a time, in nanoseconds.
type ending struct {
	key   Fingerprint
	until int64
}

// FindKeys returns the keys in a directory that has some. The error wraps ErrNoKey when there is
// none.
func FindKeys(dir string) (*Keys, error) {
	k := &Keys{dir: dir}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("seal: keys: %s: %w", dir, ErrNoKey)
	}
	if _, err := k.Newest(); err != nil {
		return nil, err
	}
	return k, nil
}

// OpenKeys returns the keys in a directory. It makes the directory, and a first key of the suite,
// if there is none. The error is about a directory or file that belongs to another user, that
// others may read, or that holds something else.
func OpenKeys(dir string, s Suite) (*Keys, error) {
	k := &Keys{dir: dir}
	if err := k.prepare(s); err != nil {
		return nil, fmt.Errorf("seal: keys: %w", err)
	}
	return k, nil
}

func (k *Keys) prepare(s Suite) error {
	if _, err := find(s); err != nil {
		return err
	}
	if err := durable.MakeDir(k.dir, 0o700); err != nil {
		return err
	}
	all, err := k.all()
	if err == nil && len(all) == 0 {
		_, err = k.Add(s)
	}
	return err
}

// all reads all keys, the newest first.
func (k *Keys) all() ([]*Key, error) {
	info, err := os.Stat(k.dir)
	if err == nil {
		err = fileowner.Check(info)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.dir, err)
	}
	files, err := filepath.Glob(filepath.Join(k.dir, "*"+keySuffix))
	if err != nil {
		return nil, err
	}
	if len(files) > maxKeys {
		return nil, fl.Invalid("keys", len(files), "must be at most %d in %s", maxKeys, k.dir)
	}
	var all []*Key
	for _, file := range files {
		one, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed just now
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, one)
	}
	k.measure(all, time.Now())
	slices.SortFunc(all, func(a, b *Key) int {
		fa, fb := a.Fingerprint(), b.Fingerprint()
		return cmp.Or(b.changed.Compare(a.changed), slices.Compare(fa[:], fb[:]))
	})
	return all, nil
}

// read reads one file.
func read(file string) (*Key, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil {
		err = fileowner.CheckSecret(info)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxKeyFile+1))
	if err != nil {
		return nil, err
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, err
	}
	if key.changed = key.from; key.from.IsZero() {
		key.changed = info.ModTime()
	}
	return key, nil
}

// parseKey reads the text of a file.
func parseKey(text []byte) (*Key, error) {
	if len(text) > maxKeyFile {
		return nil, fl.Invalid("key", "a long file", "must have at most %d bytes", maxKeyFile)
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != pemPrivate || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, fl.Invalid("key", fmt.Sprintf("%d bytes", len(text)), "must be one PEM block %q", pemPrivate)
	}
	suite := Suite(block.Headers[suiteHeader])
	a, err := find(suite)
	if err != nil {
		return nil, err
	}
	private, err := a.kem.NewPrivateKey(block.Bytes)
	if err != nil {
		return nil, fl.Invalid("key", fmt.Sprintf("%d bytes", len(block.Bytes)), "must be a private key of %s: %v", suite, err)
	}
	key := newKey(suite, a, private)
	for name, to := range map[string]*time.Time{fromHeader: &key.from, untilHeader: &key.until} {
		if at, given := block.Headers[name]; given {
			if *to, err = time.Parse(time.RFC3339Nano, at); err != nil {
				return nil, fl.Invalid(name, at, "must be a time in the form of RFC 3339")
			}
		}
	}
	return key, nil
}

// Add draws a key and writes its file, durably. New rounds have it from then on.
func (k *Keys) Add(s Suite) (*Key, error) {
	key, err := GenerateKey(s)
	if err != nil {
		return nil, err
	}
	return key, k.put(key)
}

// put writes the file of a key, durably.
func (k *Keys) put(key *Key) error {
	private, err := key.private.Bytes()
	if err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	headers := map[string]string{suiteHeader: string(key.suite)}
	for name, at := range map[string]time.Time{fromHeader: key.from, untilHeader: key.until} {
		if !at.IsZero() {
			headers[name] = at.UTC().Format(time.RFC3339Nano)
		}
	}
	text := pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Headers: headers, Bytes: private})
	if err := durable.WriteFile(k.file(key), text, 0o600); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	return nil
}

// file is where the key is written.
func (k *Keys) file(key *Key) string {
	return filepath.Join(k.dir, key.Fingerprint().String()[:16]+keySuffix)
}

// All returns the keys that there are, the newest first.
func (k *Keys) All() ([]*Key, error) {
	all, err := k.all()
	if err != nil {
		return nil, fmt.Errorf("seal: keys: %w", err)
	}
	return all, nil
}

// ErrNoKey is wrapped by errors about a key that is not there.
var ErrNoKey = errors.New("no such key")

// Newest returns the key of new rounds.
func (k *Keys) Newest() (*Key, error) {
	all, err := k.All()
	if err != nil {
		return nil, err
	}
	if newest := newestAt(all, time.Now()); newest != nil {
		return newest, nil
	}
	return nil, fmt.Errorf("seal: keys: %s: %w", k.dir, ErrNoKey)
}

// Find returns the key with this public half, see fl.Round.SealKey and fl.Round.ShareKey.
func (k *Keys) Find(public []byte) (*Key, error) {
	all, err := k.All()
	if err != nil {
		return nil, err
	}
	for _, key := range all {
		if slices.Equal(key.public, public) {
			return key, nil
		}
	}
	return nil, fmt.Errorf("seal: keys: %w: %w", ErrNoKey,
		fl.Invalid(sealKey, FingerprintOf(public), "must be the key of a file in %s", k.dir))
}
