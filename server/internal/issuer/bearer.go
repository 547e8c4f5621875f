package issuer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
)

// Limits of a file of bearer secrets.
const (
	maxBearerFile = 256 << 20
	maxBearerLine = 1 << 10
	maxBearerName = 256
)

// Bearers admits callers who know a secret of a file. A line of the file is the name of a
// client, a blank and the SHA-256 of its secret in hexadecimal digits; lines that are empty or
// begin with # say nothing. The name is the identity: a client with two lines may use either
// secret and is one client. A secret comes in the header "authorization: Bearer SECRET" of a call.
//
// The file does not let its reader in, because a secret has 128 random bits and is not in it.
// Secrets are compared through their SHA-256, so that the time of a comparison says nothing
// about a secret.
type Bearers struct {
	path   string
	logger *slog.Logger

	mu      sync.Mutex
	looked  time.Time // when the file was last looked at
	state   os.FileInfo
	names   map[[sha256.Size]byte]string
	failure error // of the last reading
}

// OpenBearers reads a file of secrets. It is read again when it changes, within a second. While
// it cannot be read, nobody is admitted, and callers get UNAVAILABLE. Errors then are logged.
func OpenBearers(path string, logger *slog.Logger) (*Bearers, error) {
	b := &Bearers{path: path, logger: logger}
	if err := b.read(); err != nil {
		return nil, fmt.Errorf("issuer: bearers: %w", err)
	}
	return b, nil
}

// NewBearer draws a secret for a client, and returns the client's line of the file.
func NewBearer(name string) (secret, line string, err error) {
	if err := checkBearerName(name); err != nil {
		return "", "", fmt.Errorf("issuer: bearer: %w", err)
	}
	secret = rand.Text()
	sum := sha256.Sum256([]byte(secret))
	return secret, name + " " + hex.EncodeToString(sum[:]), nil
}

// Admit is for Config.Admit.
func (b *Bearers) Admit(ctx context.Context) (string, error) {
	headers := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(headers) != 1 {
		return "", fmt.Errorf("the call has %d authorization headers", len(headers))
	}
	scheme, secret, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", errors.New("the call has an authorization header of another scheme")
	}
	names, err := b.current()
	if err != nil {
		return "", status.Error(codes.Unavailable, "the issuer cannot read its list of clients")
	}
	name, ok := names[sha256.Sum256([]byte(secret))]
	if !ok {
		return "", errors.New("the secret is nobody's")
	}
	return "bearer " + name, nil
}

// current returns what the file holds now.
func (b *Bearers) current() (map[[sha256.Size]byte]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.looked) < time.Second {
		return b.names, b.failure
	}
	b.looked = time.Now()
	state, err := os.Stat(b.path)
	if err == nil && b.failure == nil && os.SameFile(state, b.state) && state.Size() == b.state.Size() && state.ModTime().Equal(b.state.ModTime()) {
		return b.names, nil
	}
	if err := b.read(); err != nil {
		b.logger.Error("nobody is admitted", "error", err)
	} else {
		b.logger.Info("list of clients read", "secrets", len(b.names))
	}
	return b.names, b.failure
}

func (b *Bearers) read() error {
	b.names, b.state, b.failure = nil, nil, nil
	f, err := os.Open(b.path)
	if err == nil {
		b.state, err = f.Stat()
	}
	if err == nil {
		b.names, err = parseBearers(f)
	}
	if f != nil {
		_ = f.Close() // nothing was written
	}
	if err != nil {
		b.names, b.failure = nil, fmt.Errorf("%s: %w", b.path, err)
	}
	return b.failure
}

// parseBearers returns the names by the SHA-256 of their secrets.
func parseBearers(r io.Reader) (map[[sha256.Size]byte]string, error) {
	names := map[[sha256.Size]byte]string{}
	limited := &io.LimitedReader{R: r, N: maxBearerFile + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxBearerLine)
	number := 1
	for ; lines.Scan(); number++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		fields := strings.Fields(string(text))
		if len(fields) != 2 {
			return nil, fl.Invalid("line", number, "must be a name, a blank and the SHA-256 of a secret")
		}
		if err := checkBearerName(fields[0]); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		sum, err := hex.DecodeString(fields[1])
		if err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("line %d: %w", number, fl.Invalid("secret", fmt.Sprintf("%d characters", len(fields[1])), "must be 64 hexadecimal digits: the SHA-256 of the secret, and not the secret"))
		}
		if other, twice := names[[sha256.Size]byte(sum)]; twice && other != fields[0] {
			return nil, fmt.Errorf("line %d: %w", number, fl.Invalid("secret", fields[0], "must be the client's own: %s has the same", other))
		}
		names[[sha256.Size]byte(sum)] = fields[0]
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fl.Invalid("line", number, "must have at most %d bytes", maxBearerLine)
	case err != nil:
		return nil, err
	case limited.N == 0:
		return nil, fl.Invalid("file", "more", "must have at most %d bytes", maxBearerFile)
	}
	return names, nil
}

func checkBearerName(name string) error {
	printable := strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7F }) < 0
	if len(name) < 1 || len(name) > maxBearerName || !printable || name[0] == '#' {
		return fl.Invalid("name", name, "must be 1 to %d visible ASCII characters and not begin with #", maxBearerName)
	}
	return nil
}
