package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/internal/model"
	"github.com/hushgrad/hushgrad/server/journal"
)

// models holds the current model, and keeps it in the journal.
type models struct {
	model.Current
	journal *keeper
	writing sync.Mutex // one publication at a time

	noting sync.Mutex
	noted  []ModelVersion // oldest first
}

// put replaces the model by one that fits its header. data are GetModelResponses.
func (s *models) put(h *service.ModelHeader, data [][]byte) (version uint64, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	former, err := s.Version()
	if err != nil {
		former = 0
	}
	m, err := model.New(former+1, h, data)
	if err != nil {
		return 0, err
	}
	if err := s.write(m); err != nil {
		return 0, err
	}
	s.Set(m)
	s.note(ModelVersion{Version: m.Version, Format: h.GetFormat(), Bytes: int64(h.GetSize()), Published: time.Now()})
	return m.Version, nil
}

func modelVersionKey(version uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(modelPrefix), version)
}

// commitBytes is about how much of a model goes into the journal at once.
const commitBytes = 8 << 20

// write puts a model into the journal. It is the current one from the last batch on, which
// drops all others.
func (s *models) write(m *model.Model) error {
	var b journal.Batch
	for i, part := range m.Parts {
		b.Put(binary.BigEndian.AppendUint32(modelVersionKey(m.Version), uint32(i)), part)
		if b.Bytes() >= commitBytes {
			if err := s.journal.commit(&b); err != nil {
				return err
			}
			b = journal.Batch{}
		}
	}
	b.Delete([]byte(modelPrefix), modelVersionKey(m.Version))
	b.Put([]byte(modelKey), binary.BigEndian.AppendUint64(nil, m.Version))
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
	m := &model.Model{Version: binary.BigEndian.Uint64(data)}
	for pair, err := range s.journal.Scan(modelVersionKey(m.Version), modelVersionKey(m.Version+1)) {
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, bytes.Clone(pair.Value))
	}
	if len(m.Parts) == 0 {
		return fmt.Errorf("model: %w", fl.Invalid("parts", 0, "must be there for version %d", m.Version))
	}
	var first service.GetModelResponse
	if err := proto.Unmarshal(m.Parts[0], &first); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	h := first.GetHeader()
	s.note(ModelVersion{Version: m.Version, Format: h.GetFormat(), Bytes: int64(h.GetSize())})
	s.Set(m)
	return nil
}

// GetModel streams the current model. All readers share its messages.
func (s roundsService) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	if err := s.model.Send(stream); err != nil {
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

// receiveModel reads a model from its stream and checks it against its header.
func (s operatorService) receiveModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) (*service.ModelHeader, [][]byte, error) {
	u := model.NewUpload(s.cfg.MaxModelBytes)
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return u.Finish()
		}
		if err == nil {
			err = u.Add(req.GetHeader(), req.GetData())
		}
		if err != nil {
			return nil, nil, err
		}
	}
}
