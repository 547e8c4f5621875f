package server

import (
	"crypto/sha256"
	"fmt"
	"sync"

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
		return nil, fmt.Errorf("model: none was published: %w", errNotFound)
	}
	return s.current, nil
}

func (s *modelStore) put(h *service.ModelHeader, data []byte) (version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version = 1
	if s.current != nil {
		version = s.current.header.GetVersion() + 1
	}
	sum := sha256.Sum256(data)
	s.current = &model{
		header: &service.ModelHeader{Version: version, Format: h.GetFormat(), Size: uint64(len(data)), Sha256: sum[:]},
		data:   data,
	}
	return version
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
