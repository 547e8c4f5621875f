package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/authority"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server"
)

func keyOfAuthority(dir string) string { return filepath.Join(dir, "authority", "key.pem") }

// openAuthority returns the authority of a directory, and the certificates that parties trust. It makes an authority
// where there is none, and refuses half of one.
func openAuthority(ctx context.Context, dir string, now time.Time) (a *authority.Authority, trusted []byte, isNew bool, err error) {
	certificateFile, keyFile := filepath.Join(dir, "ca.pem"), keyOfAuthority(dir)
	trusted, hasCertificate, err := readIfThere(certificateFile)
	if err != nil {
		return nil, nil, false, err
	}
	key, hasKey, err := readIfThere(keyFile)
	switch {
	case err != nil:
		return nil, nil, false, err
	case hasCertificate && hasKey:
		if a, err = authority.Parse(trusted, key); err != nil {
			err = fl.Invalid("DIR", dir, "must have ca.pem and authority/key.pem that belong together: %v. Put back what was there", err)
		}
		return a, trusted, false, err
	case hasCertificate:
		return nil, nil, false, fl.Invalid("DIR", dir, "has ca.pem and must have authority/key.pem, which signs: put it back, or type rm %s to begin with a new authority, which no client knows yet", certificateFile)
	case hasKey:
		return nil, nil, false, fl.Invalid("DIR", dir, "has authority/key.pem and must have ca.pem: put it back, or type rm %s to begin with a new authority, which no client knows yet", keyFile)
	}
	if a, err = authority.New(authorityName, now.AddDate(0, 0, authorityDays)); err != nil {
		return nil, nil, false, err
	}
	if trusted, key, err = a.PEM(); err == nil {
		err = makeDir(filepath.Dir(keyFile), 0o700)
	}
	if err == nil {
		err = command.ReplaceMode(ctx, keyFile, 0o600, key)
	}
	if err == nil {
		err = command.ReplaceMode(ctx, certificateFile, 0o644, trusted)
	}
	return a, trusted, true, err
}

// keepNames takes the names of the certificates that are there where no flag gives any, so that to renew them needs no flags.
func (m *certifyFlags) keepNames(f *flag.FlagSet, dir string) error {
	for _, of := range []struct {
		flag, file string
		keep       func(*x509.Certificate)
	}{
		{"name", "serve/cert.pem", func(c *x509.Certificate) {
			m.names = slices.Clone(c.DNSNames)
			for _, ip := range c.IPAddresses {
				m.names = append(m.names, ip.String())
			}
		}},
		{"shuffler", "shuffle/cert.pem", func(c *x509.Certificate) { m.shuffler = c.Subject.CommonName }},
	} {
		text, there, err := readIfThere(filepath.Join(dir, of.file))
		if err != nil {
			return fl.Invalid("DIR", dir, "must be a directory that this user may read and write: %v", err)
		}
		if !there || command.Given(f, of.flag) {
			continue
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return fl.Invalid("--"+of.flag, "", "is required: %s in %s is damaged, and its names are unknown", of.file, dir)
		}
		old, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fl.Invalid("--"+of.flag, "", "is required: %s in %s is damaged: %v", of.file, dir, err)
		}
		of.keep(old)
	}
	return nil
}

// admit writes a secret for every client that has none, and its line of the issuer's file. It returns the clients whose line
// is new. A client whose line is there and whose secret is not has taken the secret away.
func (m *certifyFlags) admit(ctx context.Context, dir string, trusted []byte) ([]string, error) {
	file := filepath.Join(dir, "issue", "bearers")
	lines, there, err := readIfThere(file)
	if err != nil {
		return nil, err
	}
	admitted, known := []string{}, map[string]bool{}
	for line := range bytes.Lines(lines) {
		if fields := bytes.Fields(line); len(fields) > 0 {
			known[string(fields[0])] = true
		}
	}
	if len(lines) > 0 && lines[len(lines)-1] != '\n' {
		lines = append(lines, '\n')
	}
	if len(m.clients) > 0 {
		if err := makeDir(filepath.Join(dir, "clients"), 0o700); err != nil {
			return nil, err
		}
	}
	for _, name := range m.clients {
		line, err := writeSecret(ctx, filepath.Join(dir, "clients", name), name, known[name], trusted)
		if err != nil {
			return nil, err
		}
		if !known[name] {
			known[name], admitted = true, append(admitted, name)
			lines = append(lines, line+"\n"...)
		}
	}
	if there && len(admitted) == 0 {
		return admitted, nil
	}
	return admitted, command.ReplaceMode(ctx, file, 0o640, lines)
}

// writeSecret writes the directory of a client, and returns the client's line of the issuer's file. It keeps a secret that is
// there, and draws none for a client whom the issuer knows.
func writeSecret(ctx context.Context, dir, name string, known bool, trusted []byte) (line string, err error) {
	file := filepath.Join(dir, "secret")
	old, there, err := readIfThere(file)
	if err != nil || known && !there {
		return "", err
	}
	if err := makeDir(dir, 0o700); err != nil {
		return "", err
	}
	if err := command.ReplaceMode(ctx, filepath.Join(dir, "ca.pem"), 0o644, trusted); err != nil {
		return "", err
	}
	if there {
		return fmt.Sprintf("%s %x", name, sha256.Sum256(bytes.TrimSpace(old))), nil
	}
	secret, line, err := server.NewBearer(name)
	if err != nil {
		return "", err
	}
	return line, command.ReplaceMode(ctx, file, 0o600, []byte(secret+"\n"))
}

// makeDir makes a directory with a mode, whatever the umask. It leaves one that is there alone.
func makeDir(dir string, mode fs.FileMode) error {
	err := os.Mkdir(dir, mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		if info, statErr := os.Stat(dir); statErr != nil || !info.IsDir() {
			return fl.Invalid("DIR", dir, "must be a directory: move the file away")
		}
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// readIfThere reads a file that may be missing.
func readIfThere(file string) (text []byte, there bool, err error) {
	text, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}
