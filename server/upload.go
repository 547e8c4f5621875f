package server

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// upload is a model on its way in. It holds the data once, in messages for readers.
type upload struct {
	header *service.ModelHeader
	hash   hash.Hash
	size   uint64
	parts  [][]byte
	next   []byte // what will be the next part
}

// receiveModel reads a model from its stream and checks it against its header.
func (s operatorService) receiveModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) (*service.ModelHeader, [][]byte, error) {
	u := &upload{hash: sha256.New()}
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = u.add(req, s.cfg.MaxModelBytes)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return u.header, u.parts, u.finish(s.cfg.MaxModelBytes)
}

func (u *upload) add(req *service.PutModelRequest, maxBytes int64) error {
	if u.header == nil {
		if err := checkModelHeader(req.GetHeader(), maxBytes); err != nil {
			return err
		}
		u.header = req.GetHeader()
	} else if req.GetHeader() != nil {
		return fl.Invalid("header", "a second one", "belongs in the first message only")
	}
	data := req.GetData()
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

func (u *upload) flush() error {
	part, err := proto.Marshal(&service.GetModelResponse{Data: u.next})
	u.parts, u.next = append(u.parts, part), u.next[:0]
	return err
}

// finish checks the model as a whole.
func (u *upload) finish(maxBytes int64) error {
	switch sum := u.hash.Sum(nil); {
	case u.header == nil:
		return checkModelHeader(nil, maxBytes)
	case u.size != u.header.GetSize():
		return fl.Invalid("data", fmt.Sprintf("%d bytes", u.size), "must be header.size = %d bytes", u.header.GetSize())
	case !bytes.Equal(sum, u.header.GetSha256()):
		return fl.Invalid("header.sha256", fmt.Sprintf("%x", u.header.GetSha256()), "must be the data's, %x", sum)
	case len(u.next) > 0:
		return u.flush()
	}
	return nil
}

// checkModelHeader checks what a model is announced with.
func checkModelHeader(h *service.ModelHeader, maxBytes int64) error {
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
