package shuffler

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/fileowner"
)

// secretFile is the name of the file of a secret: the digest of its round.
var secretFile = regexp.MustCompile(`^([0-9a-f]{64})\.secret$`)

// errNoSecret is wrapped by errors about a secret that is not there any more.
var errNoSecret = errors.New("the secret of the round is not there")

// vault keeps the secrets of rounds, by the digests of the rounds: each in a file that its owner
// alone reads, or in memory when there is no directory. For ever it keeps which rounds' sums have left: no
// backup has the vault, so that a journal which comes from a backup releases nothing again.
type vault struct {
	dir string

	mu     sync.Mutex
	memory map[[32]byte][secretBytes]byte
	left   map[[32]byte]bool // beside memory
}

func openVault(dir string) (*vault, error) {
	v := &vault{dir: dir, memory: map[[32]byte][secretBytes]byte{}, left: map[[32]byte]bool{}}
	if dir == "" {
		return v, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if err := fileowner.Check(info); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return v, nil
}

func (v *vault) path(round [32]byte) string { return v.file(round, ".secret") }

func (v *vault) file(round [32]byte, suffix string) string {
	return filepath.Join(v.dir, hex.EncodeToString(round[:])+suffix)
}

// release notes that the sum of a round leaves. It is on disk when release returns.
func (v *vault) release(round [32]byte) error {
	if v.dir == "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.left[round] = true
		return nil
	}
	f, err := os.OpenFile(v.file(round, ".released"), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), v.sync())
}

// errReleased is wrapped by errors about a round whose sum has left, where the journal does not know of it.
var errReleased = errors.New("the sum of the round has left before: this journal is older, as one from a backup is")

// unreleased returns nil for a round whose sum has not left. The error may wrap errReleased.
func (v *vault) unreleased(round [32]byte) error {
	v.mu.Lock()
	left := v.left[round]
	v.mu.Unlock()
	if !left && v.dir != "" {
		switch _, err := os.Stat(v.file(round, ".released")); {
		case err == nil:
			left = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if left {
		return errReleased
	}
	return nil
}

// create draws the secret of a round. It is on disk when create returns.
func (v *vault) create(round [32]byte) (raw [secretBytes]byte, err error) {
	_, _ = rand.Read(raw[:]) // never fails
	if v.dir == "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.memory[round] = raw
		return raw, nil
	}
	if err := v.destroy(round); err != nil { // what a crash has left
		return raw, err
	}
	f, err := os.OpenFile(v.path(round), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return raw, err
	}
	_, err = f.Write(raw[:])
	return raw, errors.Join(err, f.Sync(), f.Close(), v.sync())
}

// read returns the secret of a round. The error wraps errNoSecret when there is none.
func (v *vault) read(round [32]byte) ([secretBytes]byte, error) {
	if v.dir == "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		raw, ok := v.memory[round]
		if !ok {
			return raw, errNoSecret
		}
		return raw, nil
	}
	f, err := os.Open(v.path(round))
	if errors.Is(err, fs.ErrNotExist) {
		return [secretBytes]byte{}, fmt.Errorf("%w: %w", errNoSecret, err)
	}
	if err != nil {
		return [secretBytes]byte{}, err
	}
	defer f.Close()
	raw, err := readSecret(f)
	if err != nil {
		return raw, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return raw, nil
}

func readSecret(f *os.File) (raw [secretBytes]byte, err error) {
	info, err := f.Stat()
	if err == nil {
		err = fileowner.Check(info)
	}
	if err != nil {
		return raw, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return raw, fl.Invalid("mode", fmt.Sprintf("%#o", mode), "must be for the owner alone: chmod 600")
	}
	data, err := io.ReadAll(io.LimitReader(f, secretBytes+1))
	if err != nil {
		return raw, err
	}
	return parseSecret(data)
}

// parseSecret reads what the file of a secret has.
func parseSecret(data []byte) (raw [secretBytes]byte, err error) {
	switch {
	case len(data) != secretBytes:
		return raw, fl.Invalid("secret", fmt.Sprintf("%d bytes or more", len(data)), "must have %d", secretBytes)
	case bytes.Equal(data, make([]byte, secretBytes)):
		return raw, fmt.Errorf("%w: %w", errNoSecret, fl.Invalid("secret", "zeros", "must not be overwritten yet"))
	}
	return [secretBytes]byte(data), nil
}

// destroy overwrites the secret of a round, if there is one, and removes it.
func (v *vault) destroy(round [32]byte) error {
	if v.dir == "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.memory, round)
		return nil
	}
	f, err := os.OpenFile(v.path(round), os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, secretBytes))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(os.Remove(f.Name()), v.sync())
}

// sweep destroys the secrets that belong to none of the rounds.
func (v *vault) sweep(rounds map[[32]byte]bool) error {
	if v.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := secretFile.FindStringSubmatch(e.Name())
		if name == nil {
			continue
		}
		var round [32]byte
		if _, err := hex.Decode(round[:], []byte(name[1])); err != nil {
			return err
		}
		if !rounds[round] {
			if err := v.destroy(round); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync makes what happened to names in the directory durable.
func (v *vault) sync() error {
	d, err := os.Open(v.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
