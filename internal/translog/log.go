package translog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable"
)

// Log is the log of a server, in a folder. It is safe for concurrent use. No other process may write there.
type Log struct {
	dir    string
	signer note.Signer
	keys   Keys

	mu        sync.RWMutex
	reader    *Reader          // used under the lock for writing, as it remembers tiles
	now       Checkpoint       // of all entries
	cosigned  []Checkpoint     // that witnesses have signed, the newest last
	places    map[Digest]int64 // of entries, by identity
	described map[Digest]int64 // of rounds, by their digests
	story     Story
	proofs    map[Digest][]byte
	failed    error // after which the folder has to be read anew
}

// Open opens the log in a folder, or begins one there. key is the private key that hushgrad log key makes,
// and witnesses the public keys of those whose signatures the log takes. What a killed process left
// half-written is not in the log. Cost: reading all entries.
func Open(dir, key string, witnesses []string) (*Log, error) {
	signer, verifier, err := parseSigner(key)
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, signer: signer, keys: Keys{log: verifier}}
	if l.keys.witnesses, err = parseWitnesses("witness", witnesses); err != nil {
		return nil, err
	}
	if err := durable.MakeDir(dir, 0o755); err != nil {
		return nil, err
	}
	switch _, err := os.Lstat(filepath.Join(dir, CheckpointPath)); {
	case errors.Is(err, fs.ErrNotExist):
		if err := l.begin(); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	case err != nil:
		return nil, err
	}
	if err := l.load(); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return l, nil
}

// begin writes the checkpoint of an empty log.
func (l *Log) begin() error {
	if _, err := os.Lstat(filepath.Join(l.dir, "tile")); err == nil {
		return fl.Invalid(CheckpointPath, "no file", "must be beside the tiles: put it back, for a new one would fork the log; a new log needs a new folder and a new key")
	}
	empty, err := tlog.TreeHash(0, nil)
	if err != nil {
		return err
	}
	_, err = l.sign(tlog.Tree{Hash: empty})
	return err
}

// load makes the log what the folder has.
func (l *Log) load() error {
	reader := NewReader(Folder(l.dir), l.keys)
	c, err := reader.Checkpoint(context.Background())
	if err != nil {
		return err
	}
	places, described, story := map[Digest]int64{}, map[Digest]int64{}, Story{}
	for entry, err := range reader.Entries(context.Background(), c, 0) {
		if err != nil {
			return err
		}
		places[entry.identity()] = entry.Index
		_ = story.Add(entry.Entry) // one that contradicts is what hushgrad log verify finds
		if entry.Kind == Round {
			described[entry.SHA256] = entry.Index
		}
	}
	l.reader, l.now, l.places, l.described, l.story, l.proofs, l.failed = reader, c, places, described, story, map[Digest][]byte{}, nil
	l.cosigned = nil
	if c.cosignatures() > 0 {
		l.cosigned = []Checkpoint{c}
	}
	return nil
}

// Size is the number of entries.
func (l *Log) Size() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.now.N
}

// Signed returns the checkpoint of all entries, with the signatures that it has.
func (l *Log) Signed() []byte {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.now.Signed
}

// HasRound reports whether there is an entry of a round with this id.
func (l *Log) HasRound(id string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, ok := l.story.rounds[id]
	return ok
}

// HasRelease reports whether there is an entry of an estimate of the round with this id.
func (l *Log) HasRelease(id string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, ok := l.story.releases[id]
	return ok
}

// NewestModel returns the largest version of a model that there is an entry of, 0 for none.
func (l *Log) NewestModel() uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.story.newest
}

// Remembers returns an error unless the log begins with the entries of a checkpoint that its key has signed.
// A checkpoint of another key is another log's.
func (l *Log) Remembers(signed []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, err := l.keys.Open(signed)
	switch {
	case errors.Is(err, ErrSignature):
		return nil
	case err != nil:
		return err
	case before.N > l.now.N:
		return fl.Invalid("log", l.dir, "must have the %d entries that its key has signed, and has %d: put the folder back that the server wrote last, or begin another log in a new folder with a new key", before.N, l.now.N)
	}
	return l.reader.Continues(context.Background(), before, l.now)
}

// Append adds entries that are not in the log yet, under one checkpoint. They are on disk when it returns
// nil. After an error none is in the log, or all are: Append may be called again. The error wraps
// ErrContradiction for an entry that contradicts one of the log.
func (l *Log) Append(entries ...Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.unchanged(); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	from := l.now.N
	places := map[Digest]int64{} // of what is new
	var fresh []Entry
	var bytes [][]byte
	for _, e := range entries {
		data, err := e.Marshal()
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
		id := e.identity()
		_, there := l.places[id]
		if _, again := places[id]; !there && !again {
			if err := l.story.Check(e); err != nil {
				return fmt.Errorf("log: %w", err)
			}
			places[id] = from + int64(len(fresh))
			fresh, bytes = append(fresh, e), append(bytes, data)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := l.grow(bytes); err != nil {
		l.failed = err
		return fmt.Errorf("log: %w", err)
	}
	maps.Copy(l.places, places)
	for i, e := range fresh {
		_ = l.story.Add(e) // it was checked
		if e.Kind == Round {
			l.described[e.SHA256] = from + int64(i)
		}
	}
	return nil
}

// unchanged returns nil if the folder is as this process has left it. After an error of its own the process
// reads it anew.
func (l *Log) unchanged() error {
	if l.failed != nil {
		return l.load()
	}
	signed, err := Folder(l.dir).Read(context.Background(), CheckpointPath, MaxCheckpointBytes)
	if err != nil {
		return err
	}
	if !slices.Equal(signed, l.now.Signed) {
		return fl.Invalid("--log", l.dir, "must be written by one process alone: its checkpoint is not the one that this process wrote")
	}
	return nil
}

// grow writes the tiles of a tree with more entries, and then its checkpoint. Until then nobody looks for
// the new tiles.
func (l *Log) grow(entries [][]byte) error {
	old, tree := l.now.Tree, tlog.Tree{N: l.now.N}
	added := map[int64]tlog.Hash{}
	hashes := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		return l.oldAndNew(added, indexes)
	})
	for _, data := range entries {
		stored, err := tlog.StoredHashes(tree.N, data, hashes)
		if err != nil {
			return err
		}
		for i, h := range stored {
			added[tlog.StoredHashIndex(0, tree.N)+int64(i)] = h
		}
		tree.N++
	}
	var err error
	if tree.Hash, err = tlog.TreeHash(tree.N, hashes); err != nil {
		return err
	}
	if err := l.writeEntries(old.N, tree.N, entries); err != nil {
		return err
	}
	for _, t := range tlog.NewTiles(height, old.N, tree.N) {
		data, err := tlog.ReadTileData(t, hashes)
		if err != nil {
			return err
		}
		if err := writeFile(l.dir, pathOf(t), data); err != nil {
			return err
		}
	}
	if l.now, err = l.sign(tree); err != nil {
		return err
	}
	for _, t := range tlog.NewTiles(height, old.N, tree.N) {
		if t.W == perTile {
			l.removeParts(t)
		}
	}
	for n := old.N / perTile; (n+1)*perTile <= tree.N; n++ {
		l.removeParts(bundle(n, tree.N))
	}
	return nil
}

// oldAndNew reads hashes of the present tree and of the one that grows out of it.
func (l *Log) oldAndNew(added map[int64]tlog.Hash, indexes []int64) ([]tlog.Hash, error) {
	all := make([]tlog.Hash, len(indexes))
	var old []int64
	var at []int
	for i, index := range indexes {
		if h, ok := added[index]; ok {
			all[i] = h
		} else {
			old, at = append(old, index), append(at, i)
		}
	}
	if len(old) == 0 {
		return all, nil
	}
	found, err := l.reader.hashes(context.Background(), l.now).ReadHashes(old)
	for i, h := range found {
		all[at[i]] = h
	}
	return all, err
}

// writeEntries writes the bundles of the entries that are new.
func (l *Log) writeEntries(from, to int64, entries [][]byte) error {
	for n := from / perTile; n*perTile < to; n++ {
		var data []byte
		first := n * perTile
		if first < from { // a bundle that has begun
			begun := bundle(n, from)
			all, err := l.reader.bundle(context.Background(), l.now, n)
			if err != nil {
				return err
			}
			for _, e := range all[:begun.W] {
				data = append(binary.BigEndian.AppendUint16(data, uint16(len(e))), e...)
			}
			first = from
		}
		t := bundle(n, to)
		for _, e := range entries[first-from : n*perTile+int64(t.W)-from] {
			data = append(binary.BigEndian.AppendUint16(data, uint16(len(e))), e...)
		}
		if err := writeFile(l.dir, pathOf(t), data); err != nil {
			return err
		}
	}
	return nil
}

// sign writes the checkpoint of a tree.
func (l *Log) sign(tree tlog.Tree) (Checkpoint, error) {
	signed, err := format(tree, l.signer)
	if err != nil {
		return Checkpoint{}, err
	}
	if err := writeFile(l.dir, CheckpointPath, signed); err != nil {
		return Checkpoint{}, err
	}
	return l.keys.Open(signed)
}

// removeParts removes the parts of a tile that is full. A reader takes the full one instead.
func (l *Log) removeParts(full tlog.Tile) {
	_ = os.RemoveAll(filepath.Join(l.dir, filepath.FromSlash(pathOf(full))) + ".p") // else they stay
}
