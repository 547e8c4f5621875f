package translog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
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

// Send gives a cosigned checkpoint to the server of the log, which must be behind HTTP.
func (r *Reader) Send(ctx context.Context, cosigned []byte) error {
	at, ok := r.source.(*web)
	if !ok {
		return fl.Invalid("--log", "a folder", "must be the URL of the server, which takes the signature")
	}
	url := at.base.JoinPath(CosignPath).String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(cosigned))
	if err != nil {
		return err
	}
	resp, err := at.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	why, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // what there is
	return fmt.Errorf("%s: the answer is %s: %q", url, resp.Status, why)
}
