package translog

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	noteformat "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/durable"
)

// writeFile puts a file below a folder, whole or not at all. It is on disk when writeFile returns nil.
func writeFile(dir, path string, data []byte) error {
	to := filepath.Join(dir, filepath.FromSlash(path))
	if _, missing := os.Lstat(filepath.Dir(to)); missing != nil {
		if err := durable.MakeDir(filepath.Dir(to), 0o755); err != nil {
			return err
		}
	}
	return durable.WriteFile(to, data, 0o644)
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
