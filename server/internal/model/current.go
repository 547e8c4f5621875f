package model

import (
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
)

var (
	// ErrNone is wrapped by errors about a model when there is none.
	ErrNone = errors.New("not found")
	// ErrRetired is wrapped by the error of a reader who is too slow.
	ErrRetired = errors.New("newer models were published")
)

// Model is a published model. Nobody looks into the data.
type Model struct {
	Version uint64
	// Parts are GetModelResponses, encoded. The first one has the header and no data.
	Parts [][]byte
}

// New returns the model with a header, which gets the version, and the data in parts of
// [Upload.Finish].
func New(version uint64, h *service.ModelHeader, data [][]byte) (*Model, error) {
	first, err := proto.Marshal(&service.GetModelResponse{Header: &service.ModelHeader{
		Version: version, Format: h.GetFormat(), Size: h.GetSize(), Sha256: h.GetSha256(),
	}})
	if err != nil {
		return nil, err
	}
	return &Model{Version: version, Parts: append([][]byte{first}, data...)}, nil
}

// Current is the current model. The zero value has none. It is safe for concurrent use.
type Current struct {
	mu      sync.Mutex
	current *Model
	former  *Model // nil, or the one before
}

// Version returns the version of the current model. The error wraps ErrNone.
func (c *Current) Version() (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil {
		return 0, fmt.Errorf("%w: %w", fl.Invalid("model", "nothing", "one must have been published"), ErrNone)
	}
	return c.current.Version, nil
}

// Set makes m the current model.
func (c *Current) Set(m *Model) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.former, c.current = c.current, m
}

// part returns a part of a version, or nil after the last one. A reader asks for each part anew
// and holds no model, so that a version is gone as soon as there are two newer ones.
func (c *Current) part(version uint64, i int) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range []*Model{c.current, c.former} {
		if m == nil || m.Version != version {
			continue
		}
		if i < len(m.Parts) {
			return m.Parts[i], nil
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %w", fl.Invalid("version", version, "must be among the two newest"), ErrRetired)
}

// Send answers GetModel. Under [Codec] all readers share the messages. The error wraps ErrNone or
// ErrRetired, or is the stream's.
func (c *Current) Send(stream grpc.ServerStream) error {
	version, err := c.Version()
	for i := 0; err == nil; i++ {
		var part []byte
		if part, err = c.part(version, i); err != nil || part == nil {
			break
		}
		err = stream.SendMsg(newEncoded(part))
	}
	return err
}
