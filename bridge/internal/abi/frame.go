package abi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

// Limits of a frame that is read.
const (
	// MaxHeader is the largest number of bytes of a header.
	MaxHeader = 1 << 20
	// MaxPayload is the largest number of bytes of a payload: one row of fl.MaxDim float64.
	MaxPayload = 8 * fl.MaxDim
)

// prefixBytes is the size of the two lengths before a frame.
const prefixBytes = 4 + 8

// keptBytes is how much memory a reader keeps for the next frame.
const keptBytes = 16 << 20

// frameReader reads frames into memory that it uses again.
type frameReader struct {
	in              io.Reader
	memory          *Memory // nil without one
	prefix          [prefixBytes]byte
	header, payload bytes.Buffer
}

// next returns the next frame, which is valid until the next call. The error is io.EOF at
// the end of the stream, io.ErrUnexpectedEOF within a frame, and a *fl.ParamError for
// lengths above the limits.
func (r *frameReader) next() (header, payload []byte, err error) {
	if _, err := io.ReadFull(r.in, r.prefix[:]); err != nil {
		return nil, nil, err
	}
	headerBytes := uint64(binary.LittleEndian.Uint32(r.prefix[:]))
	payloadBytes := binary.LittleEndian.Uint64(r.prefix[4:])
	shared := payloadBytes&inMemory != 0
	payloadBytes &^= inMemory
	switch {
	case headerBytes > MaxHeader:
		return nil, nil, fl.Invalid("header", fmt.Sprintf("%d bytes", headerBytes), "must have at most %d", MaxHeader)
	case payloadBytes > MaxPayload && !shared:
		return nil, nil, fl.Invalid("payload", fmt.Sprintf("%d bytes", payloadBytes), "must have at most %d", MaxPayload)
	}
	if header, err = r.part(&r.header, int64(headerBytes)); err != nil {
		return nil, nil, err
	}
	if shared {
		payload, err = r.memory.first(payloadBytes)
		return header, payload, err
	}
	payload, err = r.part(&r.payload, int64(payloadBytes))
	return header, payload, err
}

// part reads n bytes. The buffer grows with what has come, at most to about twice of it.
func (r *frameReader) part(b *bytes.Buffer, n int64) ([]byte, error) {
	if b.Cap() > keptBytes {
		*b = bytes.Buffer{}
	}
	b.Reset()
	if _, err := b.ReadFrom(io.LimitReader(r.in, n)); err != nil {
		return nil, err
	}
	if int64(b.Len()) < n {
		return nil, io.ErrUnexpectedEOF
	}
	return b.Bytes(), nil
}

// writeFrame writes a frame.
func writeFrame(out io.Writer, header, payload []byte) error {
	b := make([]byte, prefixBytes, prefixBytes+len(header))
	binary.LittleEndian.PutUint32(b, uint32(len(header)))
	binary.LittleEndian.PutUint64(b[4:], uint64(len(payload)))
	if _, err := out.Write(append(b, header...)); err != nil {
		return err
	}
	if len(payload) == 0 {
		return nil
	}
	_, err := out.Write(payload)
	return err
}

// ended says whether a stream ended where a frame ends.
func ended(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) }
