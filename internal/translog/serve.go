package translog

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/hushgrad/hushgrad/fl"
)

// maxProofs bounds the proofs that a log remembers.
const maxProofs = 256

// Proof returns the proof that the round with this digest is in the log, or nil for one that is not. It is
// under the checkpoint that most witnesses have signed.
func (l *Log) Proof(round [32]byte) ([]byte, error) {
	l.mu.RLock()
	known := l.proofs[round]
	l.mu.RUnlock()
	if known != nil {
		return known, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	index, ok := l.described[round]
	if !ok {
		return nil, nil
	}
	under := l.now
	for _, c := range l.cosigned {
		if c.N > index && c.cosignatures() >= under.cosignatures() {
			under = c
		}
	}
	ctx := context.Background()
	entries, err := l.reader.bundle(ctx, l.now, index/perTile)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	path, err := tlog.ProveRecord(under.N, index, l.reader.hashes(ctx, l.now))
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	if len(l.proofs) >= maxProofs {
		clear(l.proofs)
	}
	l.proofs[round] = formatProof(index, entries[index%perTile], path, under)
	return l.proofs[round], nil
}

// maxCosigned bounds the checkpoints with signatures of witnesses that are remembered.
const maxCosigned = 8

// Cosign takes a checkpoint of this log that witnesses have signed, too. The error is a *fl.ParamError for
// anything else.
func (l *Log) Cosign(signed []byte) error {
	c, err := l.keys.Open(signed)
	if err != nil {
		return err
	}
	if c.cosignatures() == 0 {
		return fl.Invalid("checkpoint", "no signature of a witness", "must have one under a key of --log-witness")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.N > l.now.N {
		return fl.Invalid("checkpoint", c.N, "must have at most the %d entries of this log", l.now.N)
	}
	if err := l.reader.Continues(context.Background(), c, l.now); err != nil {
		return err
	}
	for i, other := range l.cosigned {
		if other.N == c.N {
			merged, err := l.keys.merge(other, c)
			if err != nil {
				return err
			}
			if merged.cosignatures() == other.cosignatures() {
				return nil // nothing new
			}
			l.cosigned[i], c = merged, merged
			return l.publish(c)
		}
	}
	// Anybody may send old checkpoints again: they never take the place of newer ones.
	l.cosigned = append(l.cosigned, c)
	slices.SortFunc(l.cosigned, func(a, b Checkpoint) int { return cmp.Compare(a.N, b.N) })
	l.cosigned = l.cosigned[max(0, len(l.cosigned)-maxCosigned):]
	return l.publish(c)
}

// publish makes a cosigned checkpoint the one in the folder, if it is the newest, and the one of proofs. The
// caller holds the lock.
func (l *Log) publish(c Checkpoint) error {
	clear(l.proofs)
	if c.N != l.now.N {
		return nil
	}
	if err := l.unchanged(); err != nil {
		return err
	}
	if err := writeFile(l.dir, CheckpointPath, c.Signed); err != nil {
		l.failed = err
		return err
	}
	l.now = c
	return nil
}

// Witnessed returns how many entries the largest checkpoint has that a witness is known to have signed, for each witness by the
// beginning of its key: NAME+HASH.
func (l *Log) Witnessed() map[string]int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	entries := map[string]int64{}
	for _, w := range l.keys.witnesses {
		var signed int64
		for _, c := range l.cosigned { // the newest last
			if c.signedBy(w) {
				signed = c.N
			}
		}
		entries[fmt.Sprintf("%s+%08x", w.Name(), w.KeyHash())] = signed
	}
	return entries
}

// File returns the place on the disk of the file at a path below the log's place. ok is false for everything else in the
// folder. A tile that has grown since is not there any more.
func (l *Log) File(path string) (file string, ok bool) {
	if path != CheckpointPath {
		if t, err := parsePath(path); err != nil || !l.covers(t) {
			return "", false
		}
	}
	return filepath.Join(l.dir, filepath.FromSlash(path)), true
}

// covers reports whether the entries below a tile are all in the log: what a killed process left beyond them
// is written anew.
func (l *Log) covers(t tlog.Tile) bool {
	return t.L < 5 && t.N*perTile+int64(t.W) <= l.Size()>>(height*max(t.L, 0))
}
