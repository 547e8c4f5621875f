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
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/fileowner"
	"github.com/hushgrad/hushgrad/server/internal/releases"
)

// secretFile is the name of the file of a secret: the digest of its round.
var secretFile = regexp.MustCompile(`^([0-9a-f]{64})\.secret$`)

// errNoSecret is wrapped by errors about a secret that is not there any more.
var errNoSecret = errors.New("the secret of the round is not there")

// vault keeps the secrets of rounds, by the digests of the rounds: each in a file that its owner
// alone reads, or in memory when there is no directory. Beside them it keeps which rounds' sums have left.
type vault struct {
	*releases.Notes
	dir string

	mu     sync.Mutex
	memory map[[32]byte][secretBytes]byte
}

func openVault(dir string) (*vault, error) {
	notes, err := releases.Open(dir)
	return &vault{Notes: notes, dir: dir, memory: map[[32]byte][secretBytes]byte{}}, err
}

func (v *vault) path(round [32]byte) string {
	return filepath.Join(v.dir, hex.EncodeToString(round[:])+".secret")
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
	return raw, errors.Join(err, f.Sync(), f.Close(), durable.SyncDir(v.dir))
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
		err = fileowner.CheckSecret(info)
	}
	if err != nil {
		return raw, err
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
	return errors.Join(os.Remove(f.Name()), durable.SyncDir(v.dir))
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
