package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	flag "github.com/spf13/pflag"
	"golang.org/x/mod/sumdb/note"

	"github.com/hushgrad/hushgrad/fl"
)

// releaseKeys are the keys that sign releases.
//
//go:embed releases.key
var releaseKeys string

// maxSums is how long a signed file of checksums may be: note.Open takes no more.
const maxSums = 1_000_000

// provenance are the flags that compare a program with a release.
type provenance struct {
	sums string // a signed file; empty: nothing is compared
	file string
	key  string
}

func (p *provenance) bind(f *flag.FlagSet) {
	f.StringVar(&p.sums, "verify", "", "signed `file` of a release, checksums.note: compare this program with it, and print what it was built from")
	f.StringVar(&p.file, "file", "", "`file`, a program or archive, that --verify compares, in place of this program")
	f.StringVar(&p.key, "key", "", "public `key` that must have signed the file of --verify, in place of the keys of releases that this program knows")
}

func (p *provenance) validate() error {
	if p.sums == "" {
		return notGiven("needs --verify", textFlag{"--file", p.file}, textFlag{"--key", p.key})
	}
	return nil
}

// verifiedFile is what --verify found.
type verifiedFile struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Name   string `json:"name"`   // in the release
	Signer string `json:"signer"` // of the release
}

// verify compares a program with the signed file.
func (p *provenance) verify() (*verifiedFile, error) {
	known, err := p.keys()
	if err != nil {
		return nil, err
	}
	file := p.file
	if file == "" {
		if file, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("--verify: this program is not found: %w; type --file", err)
		}
	}
	signed, err := os.Open(p.sums)
	if err != nil {
		return nil, fmt.Errorf("--verify: %w", err)
	}
	defer signed.Close() // it was only read
	text, err := io.ReadAll(io.LimitReader(signed, maxSums+1))
	if err != nil {
		return nil, fmt.Errorf("--verify: %w", err)
	}
	names, signer, err := openSums(text, known)
	if err != nil {
		return nil, fmt.Errorf("--verify: %s: %w", p.sums, err)
	}
	sum, err := hashOf(file)
	if err != nil {
		return nil, fmt.Errorf("--file: %w", err)
	}
	name, ok := names[sum]
	if !ok {
		return nil, fmt.Errorf("%s has the SHA-256 %s, which %s does not list: it is of another release, or was changed, or you have built it. Take the file of its own release, which \"hushgrad version\" names, or download the archive again", file, sum, p.sums)
	}
	return &verifiedFile{file, sum, name, signer}, nil
}

// keys returns the keys of which one must have signed.
func (p *provenance) keys() (note.Verifiers, error) {
	text := p.key
	if text == "" {
		text = releaseKeys
	}
	var all []note.Verifier
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := note.NewVerifier(line)
		if err != nil {
			return nil, fl.Invalid("--key", line, "must be NAME+HASH+KEY, as a release's page has it")
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil, fl.Invalid("--key", "", "is required: this program was built before there was a key of releases")
	}
	return note.VerifierList(all...), nil
}

// openSums returns the names of a signed file of checksums by their SHA-256, and who has signed.
func openSums(text []byte, known note.Verifiers) (names map[string]string, signer string, err error) {
	n, err := note.Open(text, known)
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return nil, "", fmt.Errorf("it is signed by %s, whose key is not known here: type --key, or take the file from the page of the release", unverified.Note.UnverifiedSigs[0].Name)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: take the file from the page of the release again", err)
	}
	names = map[string]string{}
	for line := range strings.Lines(n.Text) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size {
			return nil, "", fmt.Errorf("line %.100q: must be a SHA-256, two spaces and a name", line)
		}
		names[sum] = name
	}
	return names, n.Sigs[0].Name, nil
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (v *verifiedFile) print(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "verified %s is %s of the release that %s has signed\nsha256   %s\n", v.File, v.Name, v.Signer, v.SHA256); err != nil {
		return err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nThis program was built from\n%s", info)
	return err
}
