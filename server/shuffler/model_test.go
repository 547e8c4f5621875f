package shuffler

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/proto/hushgrad/v1/service"
	"github.com/hushgrad/hushgrad/server/client"
)

// modelOf returns what a client of the shuffler gets.
func modelOf(t *testing.T, p *party) (*client.Model, error) {
	t.Helper()
	c, err := client.New(p.conn, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Model(t.Context())
}

// Clients get the server's model, whole, and the new one when there is one.
func TestTheModelIsPassedOn(t *testing.T) {
	s := realServer(t)
	p := start(t, Config{Upstream: s.Conn(), MaxModelBytes: 1 << 20}, nil)
	if _, err := modelOf(t, p); status.Code(err) != codes.NotFound {
		t.Errorf("no model: %v", err)
	}
	for version, data := range [][]byte{bytes.Repeat([]byte("model"), 50_000), []byte("small"), bytes.Repeat([]byte("x"), 1<<20)} {
		if _, err := s.Operator().PutModel(t.Context(), "text/plain", data); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the new model", func() bool {
			m, err := modelOf(t, p)
			return err == nil && m.Version == uint64(version+1) && bytes.Equal(m.Data, data) && m.Format == "text/plain"
		})
	}
	if _, err := s.Operator().PutModel(t.Context(), "text/plain", make([]byte, 1<<20+1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal", func() bool {
		_, err := modelOf(t, p)
		return status.Code(err) == codes.Unavailable
	})
}

// modelServer sends a model and counts how often.
type modelServer struct {
	service.UnimplementedRoundsServer
	data []byte
	sums [][]byte // of each model, by turns
	sent int
}

func (s *modelServer) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	sum := s.sums[min(s.sent, len(s.sums)-1)]
	s.sent++
	if err := stream.Send(&service.GetModelResponse{Header: &service.ModelHeader{Version: 1, Format: "x", Size: uint64(len(s.data)), Sha256: sum}}); err != nil {
		return err
	}
	return stream.Send(&service.GetModelResponse{Data: s.data})
}

// The server sends its model once for many readers. A model that is not what its header says is
// not passed on.
func TestAModelIsFetchedOnceAndChecked(t *testing.T) {
	data := []byte("weights")
	right, wrong := sha256.Sum256(data), sha256.Sum256(nil)
	s := &modelServer{data: data, sums: [][]byte{right[:], wrong[:]}}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, s)
	m := relay{upstream: newUpstream(conn(t, g), time.Hour), maxBytes: 100}
	for range 5 {
		if err := m.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if version, err := m.Version(); version != 1 || err != nil || s.sent != 1 {
		t.Errorf("version %d, %v, fetched %d times", version, err, s.sent)
	}
	m.at = time.Time{}
	if err := m.refresh(t.Context()); status.Code(statusOf(err)) != codes.Unavailable {
		t.Errorf("a model that is not its header's: %v", err)
	}
}

// statusOf is what a client sees.
func statusOf(err error) error { return (&Shuffler{}).fail("", err) }
