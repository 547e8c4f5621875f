package translog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	logformat "github.com/transparency-dev/formats/log"
	noteformat "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/hushgrad/hushgrad/fl"
)

// Keys are whom a reader believes: the log's key, and witnesses who have all to have seen a checkpoint.
type Keys struct {
	log       note.Verifier
	witnesses []note.Verifier
}

// NewKeys reads public keys as hushgrad log key prints them. The errors name the parameters as given.
func NewKeys(logName, logKey, witnessName string, witnesses []string) (Keys, error) {
	verifier, err := note.NewVerifier(logKey)
	if err != nil {
		return Keys{}, fl.Invalid(logName, logKey, "must be the public key of a log, NAME+HASH+KEY, as hushgrad log key prints it")
	}
	k := Keys{log: verifier}
	k.witnesses, err = parseWitnesses(witnessName, witnesses)
	return k, err
}

// maxWitnesses bounds a list of witnesses.
const maxWitnesses = 16

func parseWitnesses(name string, keys []string) (all []note.Verifier, err error) {
	if len(keys) > maxWitnesses {
		return nil, fl.Invalid(name, len(keys), "must be at most %d keys", maxWitnesses)
	}
	for _, key := range keys {
		v, err := noteformat.NewVerifierForCosignatureV1(key)
		if err != nil {
			return nil, fl.Invalid(name, key, "must be the public key of a witness, NAME+HASH+KEY, as hushgrad log key --for witness prints it")
		}
		if slices.ContainsFunc(all, func(other note.Verifier) bool { return other.KeyHash() == v.KeyHash() }) {
			return nil, fl.Invalid(name, key, "must be given once")
		}
		all = append(all, v)
	}
	return all, nil
}

// Origin is the log's name.
func (k Keys) Origin() string { return k.log.Name() }

// Checkpoint is a signed statement of a log about all its entries.
type Checkpoint struct {
	tlog.Tree
	// Signed are its bytes.
	Signed []byte
	note   *note.Note
}

// ErrSignature is wrapped by errors about a checkpoint that lacks a signature.
var ErrSignature = errors.New("the checkpoint is not signed by this key")

// Open reads a checkpoint that the log has signed. [Keys.Witnessed] says whether witnesses have, too.
func (k Keys) Open(signed []byte) (Checkpoint, error) {
	if len(signed) > MaxCheckpointBytes {
		return Checkpoint{}, fl.Invalid("checkpoint", fmt.Sprintf("%d bytes", len(signed)), "must have at most %d", MaxCheckpointBytes)
	}
	c, _, n, err := logformat.ParseCheckpoint(signed, k.log.Name(), k.log, k.witnesses...)
	switch {
	case err != nil:
		return Checkpoint{}, fmt.Errorf("%w: %w", fl.Invalid("checkpoint", shown(signed), "must be one of log %q: %v", k.log.Name(), err), ErrSignature)
	case c.Size > maxSize:
		return Checkpoint{}, fl.Invalid("checkpoint", c.Size, "must have at most %d entries", int64(maxSize))
	case len(c.Hash) != tlog.HashSize:
		return Checkpoint{}, fl.Invalid("checkpoint", fmt.Sprintf("a hash of %d bytes", len(c.Hash)), "must have %d", tlog.HashSize)
	}
	return Checkpoint{Tree: tlog.Tree{N: int64(c.Size), Hash: tlog.Hash(c.Hash)}, Signed: slices.Clone(signed), note: n}, nil
}

// Witnessed returns nil if every witness has signed the checkpoint.
func (k Keys) Witnessed(c Checkpoint) error {
	var missing []string
	for _, w := range k.witnesses {
		if !c.signedBy(w) {
			missing = append(missing, w.Name())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", fl.Invalid("checkpoint", fmt.Sprintf("no signature of %s", strings.Join(missing, ", ")),
		"must be signed by every witness: try again in a minute, or ask whether hushgrad log witness runs there"), ErrSignature)
}

// signedBy reports whether the checkpoint has this signature.
func (c Checkpoint) signedBy(v note.Verifier) bool {
	return slices.ContainsFunc(c.note.Sigs, func(s note.Signature) bool { return s.Name == v.Name() && s.Hash == v.KeyHash() })
}

// format returns the bytes of a tree's checkpoint, signed.
func format(tree tlog.Tree, signer note.Signer) ([]byte, error) {
	c := logformat.Checkpoint{Origin: signer.Name(), Size: uint64(tree.N), Hash: tree.Hash[:]}
	return note.Sign(&note.Note{Text: string(c.Marshal())}, signer)
}

// merge returns a checkpoint with the signatures of another one over the same tree.
func (k Keys) merge(a, b Checkpoint) (Checkpoint, error) {
	n := &note.Note{Text: a.note.Text, Sigs: slices.Clone(a.note.Sigs)}
	for _, s := range b.note.Sigs {
		if !slices.ContainsFunc(n.Sigs, func(have note.Signature) bool { return have.Name == s.Name && have.Hash == s.Hash }) {
			n.Sigs = append(n.Sigs, s)
		}
	}
	signed, err := note.Sign(n)
	if err != nil {
		return Checkpoint{}, err
	}
	return k.Open(signed)
}

// cosignatures is how many of the witnesses have signed.
func (c Checkpoint) cosignatures() int { return len(c.note.Sigs) - 1 }
