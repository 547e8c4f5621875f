package server

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

// chunkBytes is the payload of one message of a model or an estimate: well
// below the 4 MiB that gRPC clients accept by default.
const chunkBytes = 1 << 20

// model is a published model. The server does not look into the data.
type model struct {
	header *service.ModelHeader
	data   []byte
}

// modelStore holds the current model.
type modelStore struct {
	mu      sync.Mutex
	current *model
}

func (s *modelStore) get() (*model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return nil, because(errNotFound, "model", "nothing", "one must have been published")
	}
	return s.current, nil
}

// put replaces the model by one that fits its header.
func (s *modelStore) put(h *service.ModelHeader, data []byte) (version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version = 1
	if s.current != nil {
		version = s.current.header.GetVersion() + 1
	}
	s.current = &model{
		header: &service.ModelHeader{Version: version, Format: h.GetFormat(), Size: h.GetSize(), Sha256: h.GetSha256()},
		data:   data,
	}
	return version
}

// GetModel streams the current model in messages of chunkBytes.
func (s roundsService) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	m, err := s.model.get()
	if err != nil {
		return s.fail("GetModel", err, "")
	}
	msg := &service.GetModelResponse{Header: m.header}
	for data := m.data; len(data) > 0; msg = new(service.GetModelResponse) {
		n := min(len(data), chunkBytes)
		msg.Data, data = data[:n], data[n:]
		if err := stream.Send(msg); err != nil {
			return err
		}
	}
	return nil
}

// PutModel replaces the current model.
func (s operatorService) PutModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) error {
	header, data, err := s.receiveModel(stream)
	if err != nil {
		return s.fail("PutModel", err, "")
	}
	version := s.model.put(header, data)
	s.cfg.Logger.Debug("model published", "version", version, "format", header.GetFormat(), "bytes", len(data))
	return stream.SendAndClose(&service.PutModelResponse{Version: version})
}

// receiveModel reads a model from its stream and checks it against its header.
func (s operatorService) receiveModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) (*service.ModelHeader, []byte, error) {
	var header *service.ModelHeader
	var data bytes.Buffer
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if header == nil {
			if err := checkModelHeader(req.GetHeader(), s.cfg.MaxModelBytes); err != nil {
				return nil, nil, err
			}
			header = req.GetHeader()
		} else if req.GetHeader() != nil {
			return nil, nil, fl.Invalid("header", "a second one", "belongs in the first message only")
		}
		data.Write(req.GetData())
		if uint64(data.Len()) > header.GetSize() {
			return nil, nil, fl.Invalid("data", fmt.Sprintf("%d bytes or more", data.Len()), "must be header.size = %d bytes", header.GetSize())
		}
	}
	if header == nil {
		return nil, nil, checkModelHeader(nil, s.cfg.MaxModelBytes)
	}
	if uint64(data.Len()) != header.GetSize() {
		return nil, nil, fl.Invalid("data", fmt.Sprintf("%d bytes", data.Len()), "must be header.size = %d bytes", header.GetSize())
	}
	if sum := sha256.Sum256(data.Bytes()); !bytes.Equal(sum[:], header.GetSha256()) {
		return nil, nil, fl.Invalid("header.sha256", fmt.Sprintf("%x", header.GetSha256()), "must be the data's, %x", sum)
	}
	return header, data.Bytes(), nil
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
