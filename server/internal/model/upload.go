package model

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"

	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// partBytes is the payload of one message of a model. A reader that does not read makes the
// server keep one or two of them, even of a model that was replaced.
const partBytes = 64 << 10

// Upload is a model on its way in. It holds the data once, in messages for readers.
type Upload struct {
	maxBytes int64
	header   *service.ModelHeader
	hash     hash.Hash
	size     uint64
	parts    [][]byte
	next     []byte // what will be the next part
}

// NewUpload returns an upload of at most maxBytes.
func NewUpload(maxBytes int64) *Upload { return &Upload{maxBytes: maxBytes, hash: sha256.New()} }

// Add takes one message. Only the first one has a header. The error is a *fl.ParamError.
func (u *Upload) Add(h *service.ModelHeader, data []byte) error {
	if u.header == nil {
		if err := checkHeader(h, u.maxBytes); err != nil {
			return err
		}
		u.header = h
	} else if h != nil {
		return fl.Invalid("header", "a second one", "belongs in the first message only")
	}
	u.size += uint64(len(data))
	if u.size > u.header.GetSize() {
		return fl.Invalid("data", fmt.Sprintf("%d bytes or more", u.size), "must be header.size = %d bytes", u.header.GetSize())
	}
	_, _ = u.hash.Write(data) // never fails
	for len(data) > 0 {
		n := min(len(data), partBytes-len(u.next))
		u.next, data = append(u.next, data[:n]...), data[n:]
		if len(u.next) == partBytes {
			if err := u.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *Upload) flush() error {
	part, err := proto.Marshal(&service.GetModelResponse{Data: u.next})
	u.parts, u.next = append(u.parts, part), u.next[:0]
	return err
}

// Finish checks the model as a whole, and returns its header and its data in parts. The error is
// a *fl.ParamError.
func (u *Upload) Finish() (*service.ModelHeader, [][]byte, error) {
	switch sum := u.hash.Sum(nil); {
	case u.header == nil:
		return nil, nil, checkHeader(nil, u.maxBytes)
	case u.size != u.header.GetSize():
		return nil, nil, fl.Invalid("data", fmt.Sprintf("%d bytes", u.size), "must be header.size = %d bytes", u.header.GetSize())
	case !bytes.Equal(sum, u.header.GetSha256()):
		return nil, nil, fl.Invalid("header.sha256", fmt.Sprintf("%x", u.header.GetSha256()), "must be the data's, %x", sum)
	case len(u.next) > 0:
		if err := u.flush(); err != nil {
			return nil, nil, err
		}
	}
	return u.header, u.parts, nil
}

// checkHeader checks what a model is announced with.
func checkHeader(h *service.ModelHeader, maxBytes int64) error {
	switch {
	case h == nil:
		return fl.Invalid("header", "nothing", "is required in the first message")
	case h.GetFormat() == "" || len(h.GetFormat()) > 128:
		return fl.Invalid("header.format", h.GetFormat(), "must have 1 to 128 bytes")
	case h.GetSize() == 0 || h.GetSize() > uint64(maxBytes):
		return fl.Invalid("header.size", h.GetSize(), "must be in [1, %d]", maxBytes)
	case len(h.GetSha256()) != sha256.Size:
		return fl.Invalid("header.sha256", fmt.Sprintf("%d bytes", len(h.GetSha256())), "must have %d", sha256.Size)
	}
	return nil
}
