// Package reportfile reads and writes files of reports of one round. Use it to keep
// reports between encoding and aggregating, or to hand them to a batch engine. Start with
// [NewWriter] and [NewReader]. [ReadRound] reads the round itself, from a file of its own.
//
// # Format
//
// A file has a head, reports and a trailer. Numbers are unsigned varints where nothing else
// is said.
//
//	head     8 bytes   "hgrpts2\n", the format and its version
//	         32 bytes  the round's digest, see [fl.Round.Digest]
//	         1 byte    1 for seeded reports, 0 for others
//	         16 bytes  the file's id, random; 0 for seeded reports
//	report             its length plus 1, and its bytes; any number of reports
//	trailer            0
//	         8 bytes   the number of reports, little-endian
//	         32 bytes  SHA-256 of everything before
//
// The round's digest keeps reports from being counted in a round that they were not made
// for. The trailer shows that a file is complete and undamaged, wherever it was cut. The
// file's digest identifies the file: whoever adds up several of them refuses a digest that
// was there before, and counts no file twice.
//
// Seeded reports were drawn from randomness that another party may know. They promise
// nothing. The file says so, because the reports do not show it.
package reportfile

import (
	"crypto/sha256"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	magic      = "hgrpts2\n"
	idBytes    = 16
	bufferSize = 1 << 16

	// HeadBytes is the length of the head of a file.
	HeadBytes = len(magic) + sha256.Size + 1 + idBytes
	// MaxReportBytes is the length of the longest report that a file may hold.
	MaxReportBytes = 1 << 26
)

// start is the part of the head that a round decides.
func start(r fl.Round) ([]byte, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	return append([]byte(magic), digest[:]...), nil
}

// RoundOf returns the digest of the round of a file, given at least HeadBytes of its beginning.
// Use it where a file may be of one of several rounds. The error is a *fl.ParamError, wrapped,
// for bytes that are not the head of a file of reports.
func RoundOf(head []byte) (digest [sha256.Size]byte, err error) {
	if len(head) < HeadBytes || string(head[:len(magic)]) != magic {
		return digest, fmt.Errorf("reportfile: %w", notAFile(len(head), head))
	}
	copy(digest[:], head[len(magic):])
	return digest, nil
}

// notAFile is the error for n bytes that do not begin like a file of reports.
func notAFile(n int, head []byte) error {
	return fl.Invalid("file", fmt.Sprintf("%d bytes %q…", n, head[:min(n, len(magic))]), "must begin with %q, as files of hushgrad encode do, and have a head of %d bytes", magic, HeadBytes)
}
