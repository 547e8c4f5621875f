package reportfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

// Reader reads a file of reports. It is not safe for concurrent use.
type Reader struct {
	r      *bufio.Reader
	hash   hash.Hash
	seeded bool
	read   uint64 // reports so far
	offset int64  // of the report that is read next
	body   bytes.Buffer
	digest [sha256.Size]byte
	end    error // what Next returns from now on; nil before
}

// NewReader reads the head of a file. The error is a *fl.ParamError, wrapped, when r is
// not a file of reports or holds another round's reports.
func NewReader(in io.Reader, round fl.Round) (*Reader, error) {
	want, err := start(round)
	if err != nil {
		return nil, fmt.Errorf("reportfile: %w", err)
	}
	r := &Reader{r: bufio.NewReaderSize(in, bufferSize), hash: sha256.New()}
	head := make([]byte, HeadBytes)
	n, err := io.ReadFull(r.r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("reportfile: %w", err)
	}
	digest := head[len(magic):len(want)]
	switch {
	case err != nil || string(head[:len(magic)]) != magic:
		err = notAFile(n, head)
	case !bytes.Equal(head[:len(want)], want):
		err = fl.Invalid("file", fmt.Sprintf("reports of a round with digest %x…", digest[:8]), "must hold reports of this round, %x…", want[len(magic):][:8])
	case head[len(want)] > 1:
		err = fl.Invalid("file", head[len(want)], "the byte for seeded reports must be 0 or 1")
	}
	if err != nil {
		return nil, fmt.Errorf("reportfile: %w", err)
	}
	r.offset = int64(HeadBytes)
	r.seeded = head[len(want)] == 1
	_, _ = r.hash.Write(head) // never fails
	return r, nil
}

// Seeded says whether the reports were drawn from a seed. If they were, they promise nothing.
func (r *Reader) Seeded() bool { return r.seeded }

// Digest returns the digest that identifies the file. It is known once Next has returned
// io.EOF.
func (r *Reader) Digest() [sha256.Size]byte { return r.digest }

// Offset returns where in the file the report begins that Next returns.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next report, which is the caller's. It returns io.EOF after the last one,
// when the trailer has shown that the file is complete. Any other error says at which report,
// and at which byte, the file is cut or damaged; then the reports before it must not be used
// either. It allocates what the file holds and not what it announces.
func (r *Reader) Next() ([]byte, error) {
	if r.end != nil {
		return nil, r.end
	}
	report, err := r.next()
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("reportfile: report %d, at byte %d: %w", r.read, r.offset, err)
	}
	r.end = err
	r.read++
	return report, err
}

// next is Next for a file that has not ended. A part that is missing is no io.EOF.
func (r *Reader) next() ([]byte, error) {
	size, err := binary.ReadUvarint(r.r)
	switch {
	case err != nil:
		return nil, cut(err)
	case size == 0:
		return nil, r.trailer()
	case size > MaxReportBytes+1:
		return nil, fl.Invalid("length", size-1, "must be at most %d", MaxReportBytes)
	}
	r.body.Reset()
	if _, err := io.CopyN(&r.body, r.r, int64(size-1)); err != nil {
		return nil, cut(err)
	}
	length := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), size)
	_, _ = r.hash.Write(length)
	_, _ = r.hash.Write(r.body.Bytes())
	r.offset += int64(len(length) + r.body.Len())
	return bytes.Clone(r.body.Bytes()), nil
}

// trailer checks what follows the zero at the end and returns io.EOF for a complete file.
func (r *Reader) trailer() error {
	var tail [8 + sha256.Size]byte
	if _, err := io.ReadFull(r.r, tail[:]); err != nil {
		return cut(err)
	}
	_, _ = r.hash.Write([]byte{0})
	_, _ = r.hash.Write(tail[:8])
	if count := binary.LittleEndian.Uint64(tail[:8]); count != r.read {
		return fl.Invalid("file", fmt.Sprintf("%d reports", r.read), "must hold the %d of its trailer", count)
	}
	if got := r.hash.Sum(nil); !bytes.Equal(got, tail[8:]) {
		return fl.Invalid("file", fmt.Sprintf("digest %x…", got[:8]), "must be its trailer's, %x…: the file is damaged", tail[8:16])
	}
	switch _, err := r.r.ReadByte(); {
	case err == nil:
		return fl.Invalid("file", "bytes after the trailer", "must end with it")
	case !errors.Is(err, io.EOF):
		return err
	}
	copy(r.digest[:], tail[8:])
	return io.EOF
}

// cut says what is wrong when the file ends too early, and returns other errors as they are.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fl.Invalid("file", "a cut or unfinished file", "must end with its trailer")
	}
	return err
}
