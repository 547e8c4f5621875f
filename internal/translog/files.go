package translog

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	noteformat "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/boltfile"
)

// writeFile puts a file below a folder, whole or not at all. It is on disk when writeFile returns nil.
func writeFile(dir, path string, data []byte) error {
	to := filepath.Join(dir, filepath.FromSlash(path))
	_, missing := os.Lstat(filepath.Dir(to))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(to+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), to)
	}
	for at := filepath.Dir(to); err == nil; at = filepath.Dir(at) {
		if err = boltfile.SyncDir(at); at == filepath.Clean(dir) || missing == nil {
			break // those above are not new
		}
	}
	return err
}

// NewKey returns a private key and the public key that goes with it. name is a log's origin or a witness's
// name. A witness signs with a time, which its public key says.
func NewKey(name string, witness bool) (private, public string, err error) {
	private, public, err = note.GenerateKey(rand.Reader, name)
	if err != nil || name == "" || strings.ContainsAny(name, "+ \t\n") {
		return "", "", fl.Invalid("name", name, "must have no space and no +, and say whose key it is, such as example.org/hushgrad")
	}
	if !witness {
		return private, public, nil
	}
	public, err = noteformat.VKeyToCosignatureV1(public)
	return private, public, err
}

// parseSigner reads a log's private key.
func parseSigner(key string) (note.Signer, note.Verifier, error) {
	signer, verifier, err := noteformat.NewEd25519SignerVerifier(strings.TrimSpace(key))
	if err != nil { // the error must not show the key
		return nil, nil, fl.Invalid("key", "other text", "must be the private key that hushgrad log key has written")
	}
	return signer, verifier, nil
}
