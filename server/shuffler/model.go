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

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/model"
)

// modelTimeout bounds the time in which the server sends its model.
const modelTimeout = 10 * time.Minute

// relay passes on the server's model, which is in the shuffler's journal. It asks the server
// once in a second for the current version, and again when a round has begun: a client that knows
// of a round gets no model from before the round.
type relay struct {
	*model.Store
	upstream *upstream
	calls    singleflight.Group

	mu     sync.Mutex
	rounds int       // that have begun
	at     time.Time // when the server was asked last
	asked  int       // rounds that had begun then; two times may be equal
	err    error     // what it answered
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

// renew makes every reader from now on get the model as it is now, or a later one.
func (m *relay) renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rounds++
}

// refresh makes the current model the one that the server had a second ago or later, and not one
// from before the last round began.
func (m *relay) refresh(ctx context.Context) error {
	m.mu.Lock()
	at, asked, err, rounds := m.at, m.asked, m.err, m.rounds
	m.mu.Unlock()
	if time.Since(at) < m.upstream.every && asked >= rounds {
		return err
	}
	for { // a fetch in progress may have asked too early
		result := m.calls.DoChan("", func() (any, error) {
			fetching, cancel := context.WithTimeout(context.Background(), modelTimeout) // of no single caller
			defer cancel()
			m.mu.Lock()
			at, asked := time.Now(), m.rounds
			m.mu.Unlock()
			err := m.fetch(fetching)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.at, m.asked, m.err = at, asked, err
			return asked, err
		})
		select {
		case r := <-result:
			if r.Val.(int) >= rounds {
				return r.Err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
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
	if now, err := m.Header(); err == nil && now.GetVersion() == h.GetVersion() && bytes.Equal(now.GetSha256(), h.GetSha256()) {
		return nil
	}
	if h.GetVersion() == 0 {
		return unavailable(fl.Invalid("version", 0, "must be > 0"))
	}
	upload := m.Upload()
	for next := first; ; {
		if err = upload.Add(next.GetHeader(), next.GetData()); err != nil {
			break
		}
		if next, err = stream.Recv(); errors.Is(err, io.EOF) {
			if err = upload.Finish(h.GetVersion()); err != nil {
				return unavailable(err)
			}
			return nil
		} else if err != nil {
			break
		}
	}
	upload.Abort()
	return unavailable(err)
}

// unavailable says that the server gave no model that can be passed on.
func unavailable(err error) error { return fmt.Errorf("%w: %v", errNoServer, err) }
