package shuffler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/internal/model"
)

// modelTimeout bounds the time in which the server sends its model.
const modelTimeout = 10 * time.Minute

// relay passes on the server's model, of which it has one copy for all readers. It asks the server
// once in a second for the current version.
type relay struct {
	model.Current
	upstream *upstream
	maxBytes int64
	calls    singleflight.Group

	mu     sync.Mutex
	at     time.Time // when the server answered last
	err    error     // what it answered
	sha256 []byte    // of the current model
}

// GetModel streams the server's model.
func (s roundsService) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	err := s.model.refresh(stream.Context())
	if err == nil {
		err = s.model.Send(stream)
	}
	if err != nil {
		return s.fail("GetModel", err)
	}
	return nil
}

// refresh makes the current model that of the server a second ago or later.
func (m *relay) refresh(ctx context.Context) error {
	m.mu.Lock()
	at, err := m.at, m.err
	m.mu.Unlock()
	if time.Since(at) < m.upstream.every {
		return err
	}
	result := m.calls.DoChan("", func() (any, error) {
		fetching, cancel := context.WithTimeout(context.Background(), modelTimeout) // of no single caller
		defer cancel()
		err := m.fetch(fetching)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.at, m.err = time.Now(), err
		return nil, err
	})
	select {
	case r := <-result:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetch gets the server's model unless it is the current one.
func (m *relay) fetch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := m.upstream.rounds.GetModel(ctx, &service.GetModelRequest{})
	if err != nil {
		return unavailable(err)
	}
	first, err := stream.Recv()
	switch {
	case status.Code(err) == codes.NotFound:
		return model.ErrNone
	case err != nil:
		return unavailable(err)
	}
	h := first.GetHeader()
	if version, err := m.Version(); err == nil && version == h.GetVersion() && bytes.Equal(m.sha256, h.GetSha256()) {
		return nil
	}
	upload := model.NewUpload(m.maxBytes)
	for next := first; ; {
		if err := upload.Add(next.GetHeader(), next.GetData()); err != nil {
			return unavailable(err)
		}
		if next, err = stream.Recv(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return unavailable(err)
		}
	}
	header, parts, err := upload.Finish()
	if err != nil {
		return unavailable(err)
	}
	complete, err := model.New(header.GetVersion(), header, parts)
	if err != nil {
		return err
	}
	m.sha256 = header.GetSha256() // read and written by one fetch at a time
	m.Set(complete)
	return nil
}

// unavailable says that the server gave no model that can be passed on.
func unavailable(err error) error { return fmt.Errorf("%w: %v", errNoServer, err) }
