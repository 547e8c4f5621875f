package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

// partBytes is the payload of one message of a model. A reader that does not read makes the
// server keep one or two of them, even of a model that was replaced.
const partBytes = 64 << 10

// model is a published model, in the messages that its readers get. The server does not look
// into the data.
type model struct {
	version uint64
	parts   [][]byte // each a GetModelResponse; the first one is the header
}

// models holds the current model.
type models struct {
	journal *keeper

	writing sync.Mutex // one publication at a time
	mu      sync.Mutex
	current *model
	former  *model // nil, or the one before
}

// version returns the version of the current model.
func (s *models) version() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil {
		return 0, because(errNotFound, "model", "nothing", "one must have been published")
	}
	return s.current.version, nil
}

// put replaces the model by one that fits its header. data are GetModelResponses.
func (s *models) put(h *service.ModelHeader, data [][]byte) (version uint64, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	former, err := s.version()
	if err != nil {
		former = 0
	}
	m := &model{version: former + 1}
	first, err := proto.Marshal(&service.GetModelResponse{Header: &service.ModelHeader{
		Version: m.version, Format: h.GetFormat(), Size: h.GetSize(), Sha256: h.GetSha256(),
	}})
	if err != nil {
		return 0, err
	}
	m.parts = append([][]byte{first}, data...)
	if err := s.write(m); err != nil {
		return 0, err
	}
	s.set(m)
	return m.version, nil
}

// set makes m the current model.
func (s *models) set(m *model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.former, s.current = s.current, m
}

func modelVersionKey(version uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(modelPrefix), version)
}

// commitBytes is about how much of a model goes into the journal at once.
const commitBytes = 8 << 20

// write puts a model into the journal. It is the current one from the last batch on, which
// drops all others.
func (s *models) write(m *model) error {
	var b journal.Batch
	for i, part := range m.parts {
		b.Put(binary.BigEndian.AppendUint32(modelVersionKey(m.version), uint32(i)), part)
		if b.Bytes() >= commitBytes {
			if err := s.journal.commit(&b); err != nil {
				return err
			}
			b = journal.Batch{}
		}
	}
	b.Delete([]byte(modelPrefix), modelVersionKey(m.version))
	b.Put([]byte(modelKey), binary.BigEndian.AppendUint64(nil, m.version))
	return s.journal.commit(&b)
}

// recover makes the current model what the journal has.
func (s *models) recover() error {
	data, err := s.journal.Get([]byte(modelKey))
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(data) != 8 {
		return fmt.Errorf("model: %w", fl.Invalid("version", fmt.Sprintf("%d bytes", len(data)), "must have 8"))
	}
	m := &model{version: binary.BigEndian.Uint64(data)}
	for pair, err := range s.journal.Scan(modelVersionKey(m.version), modelVersionKey(m.version+1)) {
		if err != nil {
			return err
		}
		m.parts = append(m.parts, bytes.Clone(pair.Value))
	}
	if len(m.parts) == 0 {
		return fmt.Errorf("model: %w", fl.Invalid("parts", 0, "must be there for version %d", m.version))
	}
	s.set(m)
	return nil
}

// part returns a part of a version, or nil after the last one. A reader asks for each part anew
// and holds no model, so that a version is gone as soon as there are two newer ones.
func (s *models) part(version uint64, i int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range []*model{s.current, s.former} {
		if m == nil || m.version != version {
			continue
		}
		if i < len(m.parts) {
			return m.parts[i], nil
		}
		return nil, nil
	}
	return nil, because(errRetired, "version", version, "must be among the two newest")
}

// GetModel streams the current model. All readers share its messages.
func (s roundsService) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	version, err := s.model.version()
	for i := 0; err == nil; i++ {
		var part []byte
		if part, err = s.model.part(version, i); err != nil || part == nil {
			break
		}
		if err := stream.SendMsg(newEncoded(part)); err != nil {
			return err
		}
	}
	if err != nil {
		return s.fail("GetModel", err, "")
	}
	return nil
}

// PutModel replaces the current model.
func (s operatorService) PutModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) error {
	header, parts, err := s.receiveModel(stream)
	if err != nil {
		return s.fail("PutModel", err, "")
	}
	version, err := s.model.put(header, parts)
	if err != nil {
		return s.fail("PutModel", err, "")
	}
	s.cfg.Logger.Debug("model published", "version", version, "format", header.GetFormat(), "bytes", header.GetSize())
	return stream.SendAndClose(&service.PutModelResponse{Version: version})
}
