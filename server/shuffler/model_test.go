package shuffler

import (
	"bytes"
	"crypto/sha256"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/internal/model"
	"github.com/hushgrad/hushgrad/server/journal"
	"github.com/hushgrad/hushgrad/sparse"
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
	p := start(t, Config{Upstream: s.Conn(), Limits: server.Limits{MaxModelBytes: 1 << 20}}, nil)
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

// newRelay returns a relay of a server that asks it once in an hour.
func newRelay(t *testing.T, g *grpc.Server) *relay {
	t.Helper()
	kept := journal.NewMemory()
	store, err := model.Open(model.Config{Journal: kept, Key: modelKey, MaxBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	return &relay{Store: store, upstream: newUpstream(conn(t, g), time.Hour)}
}

// The server sends its model once for many readers. A model that is not what its header says is
// not passed on.
func TestAModelIsFetchedOnceAndChecked(t *testing.T) {
	data := []byte("weights")
	right, wrong := sha256.Sum256(data), sha256.Sum256(nil)
	s := &modelServer{data: data, sums: [][]byte{right[:], wrong[:]}}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, s)
	m := newRelay(t, g)
	for range 5 {
		if err := m.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := m.Header(); h.GetVersion() != 1 || err != nil || s.sent != 1 {
		t.Errorf("%v, %v, fetched %d times", h, err, s.sent)
	}
	m.at = time.Time{}
	if err := m.refresh(t.Context()); status.Code(statusOf(err)) != codes.Unavailable {
		t.Errorf("a model that is not its header's: %v", err)
	}
}

// statusOf is what a client sees.
func statusOf(err error) error { return (&Shuffler{}).fail("", err) }

// slowServer sends the model of a moment ago: its second answer has been on its way since before the
// third model was there.
type slowServer struct {
	service.UnimplementedRoundsServer
	version atomic.Uint64
	asked   chan struct{}
	answer  chan struct{}
}

func (s *slowServer) GetModel(_ *service.GetModelRequest, stream grpc.ServerStreamingServer[service.GetModelResponse]) error {
	version := s.version.Load()
	s.asked <- struct{}{}
	<-s.answer
	data := []byte{byte(version)}
	sum := sha256.Sum256(data)
	return stream.Send(&service.GetModelResponse{Header: &service.ModelHeader{Version: version, Format: "x", Size: 1, Sha256: sum[:]}, Data: data})
}

// A client that knows of a round gets no model from before the round, however short ago another one
// was fetched, and also if a fetch is in progress.
func TestAModelIsNotOlderThanTheRound(t *testing.T) {
	s := &slowServer{asked: make(chan struct{}), answer: make(chan struct{})}
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, s)
	m := newRelay(t, g)
	read := func() chan error {
		done := make(chan error, 1)
		go func() { done <- m.refresh(t.Context()) }()
		return done
	}
	want := func(version uint64, done chan error) {
		t.Helper()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if h, err := m.Header(); h.GetVersion() != version || err != nil {
			t.Errorf("%v, %v, want version %d", h, err, version)
		}
	}
	s.version.Store(1)
	first := read()
	<-s.asked
	// While the first answer is on its way there are a new model and a round.
	s.version.Store(2)
	m.renew()
	second := read()
	s.answer <- struct{}{}
	<-first
	<-s.asked
	s.answer <- struct{}{}
	want(2, second)
	want(2, read()) // the server is not asked again
	s.version.Store(3)
	m.renew()
	m.at = time.Now() // as by a coarse clock: the round may have begun at the same time
	third := read()
	<-s.asked
	s.answer <- struct{}{}
	want(3, third)
}

// A new round is the moment at which clients need the new model.
func TestANewRoundBringsTheNewModel(t *testing.T) {
	s := realServer(t)
	p := start(t, Config{Upstream: s.Conn(), every: time.Hour}, nil)
	for version, id := range []string{"a", "b", "c"} {
		if _, err := s.Operator().PutModel(t.Context(), "text/plain", []byte(id)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Operator().OpenRound(t.Context(), fl.Round{
			ID: id, Mechanism: coco.Name, Dim: 20, Scale: 1, Epsilon: 1, MinReports: 5, Shuffler: testName, Params: fl.Params{sparse.ParamSparsity: fl.Int(2)},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.clients.GetRound(t.Context(), &service.GetRoundRequest{RoundId: id}); err != nil {
			t.Fatal(err)
		}
		if m, err := modelOf(t, p); err != nil || m.Version != uint64(version+1) || string(m.Data) != id {
			t.Errorf("round %s: %+v, %v", id, m, err)
		}
	}
}
