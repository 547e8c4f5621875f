package translog

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
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
	if err := writeFile(l.dir, checkpointPath, c.Signed); err != nil {
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

// CosignPath is where a witness sends what it has signed, below the log's URL.
const CosignPath = "cosigned"

// Handler answers HTTP below the log's URL with its files. Nothing else in the folder can be read.
// Whoever sends a checkpoint with a signature of a witness to CosignPath adds it.
func (l *Log) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		path := r.URL.Path
		switch {
		case path == CosignPath && r.Method == http.MethodPost:
			l.serveCosign(w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			http.Error(w, fl.Invalid("method", r.Method, "must be GET").Error(), http.StatusMethodNotAllowed)
			return
		case path == checkpointPath:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-cache")
		default:
			if t, err := parsePath(path); err != nil || !l.covers(t) {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Cache-Control", "public, max-age=604800, immutable")
		}
		http.ServeFile(w, r, filepath.Join(l.dir, filepath.FromSlash(path)))
	})
}

// covers reports whether the entries below a tile are all in the log: what a killed process left beyond them
// is written anew.
func (l *Log) covers(t tlog.Tile) bool {
	return t.L < 5 && t.N*perTile+int64(t.W) <= l.Size()>>(height*max(t.L, 0))
}

// serveCosign takes the checkpoint in a request.
func (l *Log) serveCosign(w http.ResponseWriter, r *http.Request) {
	signed, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxCheckpointBytes))
	if err == nil {
		err = l.Cosign(signed)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
