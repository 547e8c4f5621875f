// Package translog is a transparency log of what a server did: its rounds, their keys, what was released,
// and models. Use it to write such a log, to read one, from a folder or with package site over HTTP, and to check that a round
// is in it. Start with [Open] for a server, [NewReader] for a reader and [Keys.Check] for a client.
//
// The log is a Merkle tree in the form of C2SP: tlog-tiles with tiles of height 8, tlog-checkpoint,
// tlog-cosignature for witnesses, and tlog-proof for the proof that an entry is in it. Every entry is one
// line of JSON.
package translog

import (
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// height of the tiles, and the entries in a full one.
	height  = 8
	perTile = 1 << height
	// maxSize bounds the entries of a log.
	maxSize = 1 << 40

	// MaxCheckpointBytes bounds a checkpoint with its signatures.
	MaxCheckpointBytes = 16 << 10
	// CheckpointPath is where the checkpoint is, below the log's place.
	CheckpointPath = "checkpoint"
)

// pathOf returns the place of a tile: of hashes, or at level −1 of entries.
func pathOf(t tlog.Tile) string {
	path := strings.TrimPrefix(t.Path(), fmt.Sprintf("tile/%d/", height))
	if entries, ok := strings.CutPrefix(path, "data/"); ok {
		path = "entries/" + entries
	}
	return "tile/" + path
}

// parsePath is the inverse of pathOf.
func parsePath(path string) (tlog.Tile, error) {
	rest, ok := strings.CutPrefix(path, "tile/")
	if entries, is := strings.CutPrefix(rest, "entries/"); is {
		rest = "data/" + entries
	}
	t, err := tlog.ParseTilePath(fmt.Sprintf("tile/%d/%s", height, rest))
	if !ok || err != nil || pathOf(t) != path {
		return tlog.Tile{}, fl.Invalid("path", path, "must be the place of a tile")
	}
	return t, nil
}

// bundle returns the tile of entries from number first·256 on, in a log of size entries.
func bundle(first, size int64) tlog.Tile {
	return tlog.Tile{H: height, L: -1, N: first, W: int(min(perTile, size-first*perTile))}
}
