package server

import (
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/internal/model"
	"github.com/hushgrad/hushgrad/server/internal/overview"
)

// models is the current model in the journal, and what is remembered of those before.
type models struct {
	*model.Store

	noting sync.Mutex
	noted  []overview.Model // oldest first
}

// recover finds the current model in the journal.
func (s *models) recover(kept *keeper.Prober, maxBytes int64) (err error) {
	if s.Store, err = model.Open(model.Config{Journal: kept, Key: modelKey, MaxBytes: maxBytes}); err != nil {
		return err
	}
	if h, err := s.Header(); err == nil {
		s.note(overview.Model{Version: h.GetVersion(), Format: h.GetFormat(), Bytes: int64(h.GetSize())})
	}
	return nil
}

// GetModel streams the current model from the journal.
func (s roundsService) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	if err := s.model.Send(stream); err != nil {
		return s.fail("GetModel", err, "")
	}
	return nil
}

// PutModel replaces the current model. The same model again changes nothing.
func (s operatorService) PutModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) (failed error) {
	defer s.audit(stream.Context(), "PutModel", "", &failed)
	h, err := s.receiveModel(stream)
	if err != nil {
		return s.fail("PutModel", err, "")
	}
	s.model.note(overview.Model{Version: h.GetVersion(), Format: h.GetFormat(), Bytes: int64(h.GetSize()), Published: time.Now()})
	s.cfg.Logger.Debug("model published", "version", h.GetVersion(), "format", h.GetFormat(), "bytes", h.GetSize())
	return stream.SendAndClose(&service.PutModelResponse{Version: h.GetVersion()})
}

// receiveModel reads a model from its stream into the journal, checks it against its header and makes
// it the current one.
func (s operatorService) receiveModel(stream grpc.ClientStreamingServer[service.PutModelRequest, service.PutModelResponse]) (*service.ModelHeader, error) {
	u := s.model.Upload()
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return s.publish(u)
		}
		if err == nil {
			err = u.Add(req.GetHeader(), req.GetData())
		}
		if err != nil {
			u.Abort()
			return nil, err
		}
	}
}

// publish makes an upload the current model, and writes it to the log.
func (s operatorService) publish(u *model.Upload) (*service.ModelHeader, error) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	h, err := u.FinishAfter(s.newestLogged())
	if err != nil {
		return nil, err
	}
	at := time.Now()
	if !s.tasks.insist(func() error { return s.logModel(h, at) }, func(err error) {
		s.cfg.Logger.Error("the model could not be logged, trying again", "error", err)
	}) {
		return nil, errStopping
	}
	return h, nil
}
