package translog

import (
	"strings"

	noteformat "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/hushgrad/hushgrad/fl"
)

// Witness signs checkpoints of a log that it has checked, with the time.
type Witness struct {
	Keys   Keys // with the witness's own as the only one beside the log's
	signer note.Signer
}

// NewWitness returns a witness with a private key of [NewKey] for the log with this public key. The names are
// the parameters' in errors.
func NewWitness(logName, logKey, privateName, private string) (*Witness, error) {
	keys, err := NewKeys(logName, logKey, "", nil)
	if err != nil {
		return nil, err
	}
	signer, err := noteformat.NewSignerForCosignatureV1(strings.TrimSpace(private))
	if err != nil { // the error must not show the key
		return nil, fl.Invalid(privateName, "other text", "must be the private key that hushgrad log key --for witness has written")
	}
	keys.witnesses = []note.Verifier{signer.Verifier()}
	return &Witness{Keys: keys, signer: signer}, nil
}

// Cosign returns a checkpoint with the witness's signature beside the log's.
func (w *Witness) Cosign(c Checkpoint) ([]byte, error) {
	return note.Sign(&note.Note{Text: c.note.Text, Sigs: c.note.Sigs}, w.signer)
}
