package shuffler

import (
	"context"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
	"github.com/hushgrad/hushgrad/server/seal"
)

const testName = "shuffler.test"

// recorder is a server that records what it gets. It counts a sealed report once.
type recorder struct {
	service.UnimplementedRoundsServer
	service.UnimplementedShuffledServer

	mu        sync.Mutex
	status    map[string]*service.RoundStatus
	forwarded [][]byte       // sealed reports in the order of their first arrival
	seen      map[string]int // how often each one came
	calls     int            // of ForwardReports
	asked     int            // calls of GetRound
	completed *service.CompleteRoundRequest
	refuse    func(call int) error // what to answer instead
	reject    func(sealed []byte) bool
	finish    func(sum []byte) error // what to answer to CompleteRound instead
}

func newRecorder() *recorder {
	return &recorder{status: map[string]*service.RoundStatus{}, seen: map[string]int{}}
}

// with does something while nothing else happens.
func (r *recorder) with(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

func (r *recorder) open(description fl.Round) {
	r.with(func() {
		r.status[description.ID] = &service.RoundStatus{Round: description.Proto(), State: service.RoundState_ROUND_STATE_OPEN}
	})
}

func (r *recorder) end(id string, state service.RoundState) {
	r.with(func() { r.status[id].State = state })
}

func (r *recorder) close(id string) { r.with(func() { r.status[id].Closing = true }) }

func (r *recorder) GetRound(_ context.Context, req *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	st := r.status[req.GetRoundId()]
	if st == nil {
		return nil, status.Error(codes.NotFound, "no such round")
	}
	return &service.GetRoundResponse{Status: proto.Clone(st).(*service.RoundStatus)}, nil
}

func (r *recorder) ForwardReports(_ context.Context, req *service.ForwardReportsRequest) (*service.ForwardReportsResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.refuse != nil {
		if err := r.refuse(r.calls); err != nil {
			return nil, err
		}
	}
	st := r.status[req.GetRoundId()]
	if st == nil || st.State != service.RoundState_ROUND_STATE_OPEN {
		return nil, status.Error(codes.FailedPrecondition, "the round has ended")
	}
	description, err := fl.RoundFromProto(st.Round)
	if err != nil {
		return nil, err
	}
	digest, err := description.Digest()
	if err != nil || string(digest[:]) != string(req.GetRoundDigest()) {
		return nil, status.Errorf(codes.FailedPrecondition, "another digest, %v", err)
	}
	m, err := fl.Open(description)
	if err != nil {
		return nil, err
	}
	format, err := seal.FormatOf(description, m)
	if err != nil {
		return nil, err
	}
	items, err := seal.Split(req.GetSealed(), format.Sealed)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	resp := &service.ForwardReportsResponse{}
	for i, item := range items {
		if r.seen[string(item)]++; r.seen[string(item)] == 1 {
			r.forwarded = append(r.forwarded, item)
		}
		if r.reject != nil && r.reject(item) {
			resp.Rejected = append(resp.Rejected, uint32(i))
		}
	}
	return resp, nil
}

func (r *recorder) CompleteRound(_ context.Context, req *service.CompleteRoundRequest) (*service.CompleteRoundResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finish != nil {
		if err := r.finish(req.GetShareSum()); err != nil {
			return nil, err
		}
	}
	r.completed = req
	r.status[req.GetRoundId()].State = service.RoundState_ROUND_STATE_CLOSED
	return &service.CompleteRoundResponse{}, nil
}

// got returns the sealed reports that came, and whether the round was completed.
func (r *recorder) got() (sealed [][]byte, complete bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.forwarded), r.completed != nil
}

// callsNow returns how often ForwardReports was called.
func (r *recorder) callsNow() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// askedNow returns how often GetRound was called.
func (r *recorder) askedNow() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// serve answers on a connection in memory.
func (r *recorder) serve(t testing.TB) *grpc.ClientConn {
	t.Helper()
	g := grpc.NewServer()
	service.RegisterRoundsServer(g, r)
	service.RegisterShuffledServer(g, r)
	return conn(t, g)
}

func conn(t testing.TB, g *grpc.Server) *grpc.ClientConn {
	t.Helper()
	s, err := servertest.StartGRPC(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.Conn()
}
