// Command signsums signs the checksums of a release, so that hushgrad version --verify can compare a program with
// them. Use it in the workflow of a release, after goreleaser has built. Start with
//
//	go run ./bench/internal/signsums key NAME           # once: makes a key
//	go run ./bench/internal/signsums sign dist checksums.note
//
// The signed file has the lines of dist/checksums.txt, which are archives and packages, and a line for each program in the
// folders of dist. Its format is a signed note of Go's checksum database.
package main

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// secret is the variable with the private key.
const secret = "HUSHGRAD_RELEASE_KEY"

// public is the file with the keys that hushgrad knows.
const public = "cmd/hushgrad/releases.key"

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "key":
		err = makeKey(args[1])
	case len(args) == 3 && args[0] == "sign":
		err = sign(args[1], args[2], os.Getenv(secret))
	default:
		err = fmt.Errorf("arguments: got %q, must be key NAME, or sign DIST FILE", args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "signsums:", err)
		os.Exit(1)
	}
}

func makeKey(name string) error {
	private, verifier, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return err
	}
	fmt.Printf("Secret, for the variable %s of the workflow and for nobody else:\n%s\nPublic, for %s:\n%s\n", secret, private, public, verifier)
	return nil
}

// sign writes the signed file.
func sign(dist, file, key string) error {
	if key == "" {
		return errors.New(secret + " is empty: it must have the private key, which key NAME makes")
	}
	signer, err := note.NewSigner(key)
	if err != nil {
		return fmt.Errorf("%s: %w", secret, err)
	}
	archives, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	var text strings.Builder
	text.Write(archives)
	programs, err := filepath.Glob(filepath.Join(dist, "*", "hushgrad*"))
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return fmt.Errorf("%s: no folder has a program", dist)
	}
	for _, program := range programs {
		built, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s/%s\n", sha256.Sum256(built), filepath.Base(filepath.Dir(program)), filepath.Base(program))
	}
	signed, err := note.Sign(&note.Note{Text: text.String()}, signer)
	if err != nil {
		return err
	}
	return os.WriteFile(file, signed, 0o644)
}
