package translog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hushgrad/hushgrad/fl"
)

// Reader reads a log, and believes nothing that its keys do not vouch for. It
// takes the memory of some tiles. It is not safe for concurrent use.
type Reader struct {
	keys   Keys
	source Source
	known  map[tlog.Tile][]byte // tiles that belong to a checkpoint
}

// NewReader returns a reader of the log whose files a source has.
func NewReader(s Source, keys Keys) *Reader {
	return &Reader{keys: keys, source: s, known: map[tlog.Tile][]byte{}}
}

// Checkpoint reads the newest checkpoint. The error says what is wrong with it, and wraps ErrSignature for
// one of another log.
func (r *Reader) Checkpoint(ctx context.Context) (Checkpoint, error) {
	signed, err := r.source.Read(ctx, CheckpointPath, MaxCheckpointBytes)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	return r.keys.Open(signed)
}

// ErrFork is wrapped by errors about two checkpoints of a log, neither of which continues the other: the log
// shows different entries to different readers.
var ErrFork = errors.New("the log has forked: its key has signed two checkpoints that contradict each other")

// ErrLost is wrapped by errors about a log that shows less than its key has signed, and no longer has the rest.
var ErrLost = errors.New("the log has lost entries: it is an old copy, or was begun anew with the same key, and is a fork as soon as it grows")

// Continues returns nil if the entries of the older checkpoint are the first ones of the newer one. The
// error wraps ErrFork if they are not, and has both checkpoints, which prove it. The checkpoint that was seen
// before goes first: when the second one is of fewer entries and the others are not there, the error wraps
// ErrLost.
func (r *Reader) Continues(ctx context.Context, older, newer Checkpoint) error {
	same := older.Hash == newer.Hash
	shrunk := older.N > newer.N
	if shrunk {
		older, newer = newer, older
	}
	if older.N < newer.N && older.N > 0 {
		hash, err := tlog.TreeHash(older.N, r.hashes(ctx, newer))
		if err != nil { // the tiles that are remembered may be the fork's
			clear(r.known)
			hash, err = tlog.TreeHash(older.N, r.hashes(ctx, newer))
		}
		switch {
		case err != nil && shrunk && errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: it shows %d entries, and its key has signed %d\n%s\n%s", ErrLost, older.N, newer.N, older.Signed, newer.Signed)
		case err != nil:
			return fmt.Errorf("tiles of %d entries: %w", newer.N, err)
		}
		same = hash == older.Hash
	} else if older.N == 0 {
		same = true
	}
	if !same {
		return fmt.Errorf("%w\n%s\n%s", ErrFork, older.Signed, newer.Signed)
	}
	return nil
}

// Logged is an entry in its place.
type Logged struct {
	Index int64
	Entry
}

// Entries returns the entries from number from on, checked against the checkpoint, with the hashes in the
// tiles. A pair with an error is the last.
func (r *Reader) Entries(ctx context.Context, c Checkpoint, from int64) iter.Seq2[Logged, error] {
	return func(yield func(Logged, error) bool) {
		for n := from / perTile; n*perTile < c.N; n++ {
			entries, err := r.bundle(ctx, c, n)
			if err != nil {
				yield(Logged{}, err)
				return
			}
			for i, data := range entries {
				l := Logged{Index: n*perTile + int64(i)}
				if l.Index < from {
					continue
				}
				if l.Entry, err = ParseEntry(data); err != nil {
					err = fmt.Errorf("entry %d: %w", l.Index, err)
				}
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// bundle returns the entries of a tile, checked.
func (r *Reader) bundle(ctx context.Context, c Checkpoint, n int64) ([][]byte, error) {
	t := bundle(n, c.N)
	data, err := r.tile(ctx, t, perTile*(2+MaxEntryBytes))
	if err != nil {
		return nil, err
	}
	entries, err := splitBundle(data, t.W)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pathOf(t), err)
	}
	indexes := make([]int64, len(entries))
	for i := range indexes {
		indexes[i] = tlog.StoredHashIndex(0, n*perTile+int64(i))
	}
	hashes, err := r.hashes(ctx, c).ReadHashes(indexes)
	if err != nil {
		return nil, fmt.Errorf("tiles of %d entries: %w", c.N, err)
	}
	for i, entry := range entries {
		if tlog.RecordHash(entry) != hashes[i] {
			return nil, fl.Invalid("entry", n*perTile+int64(i), "must have the hash that is in its tile: it is not what was signed")
		}
	}
	return entries, nil
}

// splitBundle returns the first entries of a bundle, of which there are at least w.
func splitBundle(data []byte, w int) ([][]byte, error) {
	entries := make([][]byte, 0, w)
	for len(entries) < w {
		if len(data) < 2 {
			return nil, fl.Invalid("entries", len(entries), "must be %d", w)
		}
		n := int(binary.BigEndian.Uint16(data))
		if data = data[2:]; n > len(data) || n > MaxEntryBytes {
			return nil, fl.Invalid("entry", fmt.Sprintf("%d bytes", n), "must have at most %d, and be whole", MaxEntryBytes)
		}
		entries, data = append(entries, data[:n:n]), data[n:]
	}
	return entries, nil
}

// tile returns a tile, or the full one when a part of it is gone.
func (r *Reader) tile(ctx context.Context, t tlog.Tile, limit int64) ([]byte, error) {
	data, err := r.source.Read(ctx, pathOf(t), limit)
	if errors.Is(err, fs.ErrNotExist) && t.W < perTile {
		t.W = perTile
		data, err = r.source.Read(ctx, pathOf(t), limit)
	}
	if err != nil {
		return nil, fmt.Errorf("tile: %w", err)
	}
	return data, nil
}

// hashes reads hashes of a checkpoint's tree, checked against it.
func (r *Reader) hashes(ctx context.Context, c Checkpoint) tlog.HashReader {
	return tlog.TileHashReader(c.Tree, &tiles{r, ctx})
}

// tiles is a tlog.TileReader.
type tiles struct {
	*Reader
	ctx context.Context
}

// Height implements tlog.TileReader.
func (t *tiles) Height() int { return height }

// ReadTiles implements tlog.TileReader.
func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	all := make([][]byte, len(wanted))
	for i, tile := range wanted {
		if all[i] = t.known[tile]; all[i] != nil {
			continue
		}
		data, err := t.tile(t.ctx, tile, perTile*tlog.HashSize)
		if err != nil {
			return nil, err
		}
		if len(data) < tile.W*tlog.HashSize {
			return nil, fl.Invalid(pathOf(tile), fmt.Sprintf("%d bytes", len(data)), "must have %d", tile.W*tlog.HashSize)
		}
		all[i] = data[:tile.W*tlog.HashSize]
	}
	return all, nil
}

// maxKnown bounds the tiles that a reader remembers: 2 MiB.
const maxKnown = 256

// SaveTiles implements tlog.TileReader.
func (t *tiles) SaveTiles(saved []tlog.Tile, data [][]byte) {
	if len(t.known)+len(saved) > maxKnown {
		clear(t.known)
	}
	for i, tile := range saved {
		t.known[tile] = data[i]
	}
}
