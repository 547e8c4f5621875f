// Package releases remembers for ever which rounds have released a sum. Use it beside a journal that may
// come from a backup: no backup has the directory, so that an older journal releases nothing again. Start
// with [Open].
package releases

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hushgrad/hushgrad/internal/boltfile"
	"github.com/hushgrad/hushgrad/internal/fileowner"
)

// Err is wrapped by errors about a round whose sum has left, where the journal does not know of it.
var Err = errors.New("the sum of the round has left before: this journal is older, as one from a backup is")

// Notes are the rounds that have released a sum, by their digests: an empty file for each, or in memory
// when there is no directory. They are safe for concurrent use.
type Notes struct {
	dir    string
	memory sync.Map // of [32]byte
}

// Open makes the directory, if there is to be one, for its owner alone.
func Open(dir string) (*Notes, error) {
	if dir == "" {
		return &Notes{}, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err == nil {
		err = fileowner.Check(info)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return &Notes{dir: dir}, nil
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
	return errors.Join(f.Sync(), f.Close(), boltfile.SyncDir(n.dir))
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
