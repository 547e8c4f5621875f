// Package releases remembers for ever which rounds have released a sum. Use it beside a journal that may
// come from a backup: no backup has the directory, so that an older journal releases nothing again. The
// directory has a random id. A journal that keeps it knows these notes from others that may have begun
// later, and have forgotten a release. Start with [Open].
package releases

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable"
	"github.com/hushgrad/hushgrad/internal/fileowner"
)

var (
	// Err is wrapped by errors about a round whose sum has left, where the journal does not know of it.
	Err = errors.New("the sum of the round has left before: this journal is older, as one from a backup is")
	// ErrOther is wrapped by errors about notes that are not the ones with which something began.
	ErrOther = errors.New("these are other notes of released sums, which may have forgotten one")
)

// Notes are the rounds that have released a sum, by their digests: an empty file for each, or in memory
// when there is no directory. They are safe for concurrent use.
type Notes struct {
	dir, id string
	memory  sync.Map // of [32]byte
}

// Open makes the directory, if there is to be one, for its owner alone. It draws the id of new notes.
func Open(dir string) (*Notes, error) {
	if dir == "" {
		return &Notes{id: rand.Text()}, nil
	}
	if err := durable.MakeDir(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err == nil {
		err = fileowner.Check(info)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	n := &Notes{dir: dir}
	n.id, err = readID(dir)
	if errors.Is(err, fs.ErrNotExist) {
		n.id, err = makeID(dir)
	}
	return n, err
}

// idFile is the name of the file of the id.
const idFile = "id"

func readID(dir string) (string, error) {
	path := filepath.Join(dir, idFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if want := len(rand.Text()); len(data) != want {
		return "", fmt.Errorf("%s: %w", path, fl.Invalid("id", fmt.Sprintf("%d bytes", len(data)), "must have %d: remove the file if it is damaged, and abort the open rounds", want))
	}
	return string(data), nil
}

// makeID draws an id. Its file is complete when it gets its name.
func makeID(dir string) (string, error) {
	id := rand.Text()
	return id, durable.WriteFile(filepath.Join(dir, idFile), []byte(id), 0o600)
}

// ID returns the id of the notes. It is on disk.
func (n *Notes) ID() string { return n.id }

// Same returns nil if the notes have this id. The error wraps ErrOther, and says where the notes are.
func (n *Notes) Same(id string) error {
	switch {
	case id == n.id:
		return nil
	case n.dir == "":
		return fmt.Errorf("memory: %w", ErrOther)
	}
	return fmt.Errorf("%s: %w", n.dir, ErrOther)
}

func (n *Notes) path(round [32]byte) string {
	return filepath.Join(n.dir, hex.EncodeToString(round[:])+".released")
}

// Note remembers that the sum of a round leaves. It is on disk when Note returns.
func (n *Notes) Note(round [32]byte) error {
	if n.dir == "" {
		n.memory.Store(round, true)
		return nil
	}
	f, err := os.OpenFile(n.path(round), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), durable.SyncDir(n.dir))
}

// Check returns nil for a round whose sum has not left. The error may wrap Err.
func (n *Notes) Check(round [32]byte) error {
	_, left := n.memory.Load(round)
	if !left && n.dir != "" {
		switch _, err := os.Stat(n.path(round)); {
		case err == nil:
			left = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if left {
		return Err
	}
	return nil
}
