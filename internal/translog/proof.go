package translog

import (
	"errors"
	"fmt"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hushgrad/hushgrad/fl"
)

// MaxProofBytes bounds a proof that a round is in the log.
const MaxProofBytes = MaxCheckpointBytes + 8<<10

// ErrUnlogged is wrapped by errors about a round that is not proved to be in the log.
var ErrUnlogged = errors.New("the round is not in the log that everybody sees")

// Proved is what a proof says.
type Proved struct {
	Index      int64
	Entry      Entry
	Checkpoint Checkpoint
}

// Check checks that the round with this digest is in the log, under a checkpoint that the log and all
// witnesses have signed. data is a C2SP tlog-proof whose extra data is the entry. Cost: a hash for each level
// of the tree, and checking the signatures.
func (k Keys) Check(data []byte, round [32]byte) (Proved, error) {
	p, err := k.check(data, round)
	if err != nil {
		return Proved{}, fmt.Errorf("%w: %w", ErrUnlogged, err)
	}
	return p, nil
}

func (k Keys) check(data []byte, round [32]byte) (Proved, error) {
	p, err := k.prove(data)
	switch {
	case err != nil:
		return Proved{}, err
	case p.Entry.Kind != Round || p.Entry.SHA256 != round:
		return Proved{}, fl.Invalid("log_proof", fmt.Sprintf("%s %s", p.Entry.Kind, p.Entry.SHA256), "must be about the round that was given, %s", Digest(round))
	}
	return p, k.Witnessed(p.Checkpoint)
}

// prove checks a proof about any entry, without witnesses.
func (k Keys) prove(data []byte) (Proved, error) {
	switch {
	case len(data) == 0:
		return Proved{}, fl.Invalid("log_proof", "nothing", "must be there: the server needs --log, or this client must do without the key of a log")
	case len(data) > MaxProofBytes:
		return Proved{}, fl.Invalid("log_proof", fmt.Sprintf("%d bytes", len(data)), "must have at most %d", MaxProofBytes)
	}
	var in proof.TLogProof
	if err := in.Unmarshal(data); err != nil {
		return Proved{}, fl.Invalid("log_proof", shown(data), "must be a C2SP tlog-proof: %v", err)
	}
	c, err := k.Open(in.Checkpoint)
	if err != nil {
		return Proved{}, err
	}
	entry, err := ParseEntry(in.ExtraData)
	if err != nil {
		return Proved{}, err
	}
	if in.Index >= uint64(c.N) {
		return Proved{}, fl.Invalid("log_proof", in.Index, "must have an index below the checkpoint's %d entries", c.N)
	}
	path := make(tlog.RecordProof, len(in.Hashes))
	for i, h := range in.Hashes {
		path[i] = h
	}
	if err := tlog.CheckRecord(path, c.N, c.Hash, int64(in.Index), tlog.RecordHash(in.ExtraData)); err != nil {
		return Proved{}, fl.Invalid("log_proof", fmt.Sprintf("entry %d of %d", in.Index, c.N), "must be a path of hashes to the checkpoint: %v", err)
	}
	return Proved{Index: int64(in.Index), Entry: entry, Checkpoint: c}, nil
}

// formatProof returns the bytes of a proof.
func formatProof(index int64, entry []byte, path tlog.RecordProof, c Checkpoint) []byte {
	p := proof.TLogProof{Index: uint64(index), Checkpoint: c.Signed, ExtraData: entry}
	for _, h := range path {
		p.Hashes = append(p.Hashes, h)
	}
	return p.Marshal()
}
