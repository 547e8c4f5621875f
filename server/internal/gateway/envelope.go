package gateway

import (
	"bytes"
	"encoding/binary"
	"io"
)

// envelopeBytes is the size of what stands before a message of a stream: flags and a length.
const envelopeBytes = 5

// envelopes reads a body of messages in envelopes and hands each on when all of it is there: what
// reads it takes memory for the length that the envelope says. A longer message than most is handed
// on as far as its envelope, which the reader refuses.
type envelopes struct {
	io.ReadCloser
	most    uint32
	prefix  [envelopeBytes]byte
	current bytes.Buffer
	err     error
}

// Read implements io.Reader. The error is io.ErrUnexpectedEOF within an envelope or a message.
func (e *envelopes) Read(p []byte) (int, error) {
	if e.current.Len() == 0 && e.err == nil {
		e.err = e.next()
	}
	if e.current.Len() == 0 {
		return 0, e.err
	}
	return e.current.Read(p)
}

// next reads a message. The buffer grows with what has come.
func (e *envelopes) next() error {
	e.current.Reset()
	if _, err := io.ReadFull(e.ReadCloser, e.prefix[:]); err != nil {
		return err
	}
	_, _ = e.current.Write(e.prefix[:]) // never fails
	length := binary.BigEndian.Uint32(e.prefix[1:])
	if length > e.most {
		return io.ErrUnexpectedEOF
	}
	_, err := io.CopyN(&e.current, e.ReadCloser, int64(length))
	if err != nil {
		e.current.Reset()
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
