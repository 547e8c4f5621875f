package client_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
	"github.com/hushgrad/hushgrad/server/seal"
	"github.com/hushgrad/hushgrad/sparse"
)

const shufflerName = "shuffler.example"

// shuffler is the shuffler of one round. It also has the server's key and reads what it gets, as
// a test must.
type shuffler struct {
	service.UnimplementedRoundsServer

	status    *service.RoundStatus
	key       *seal.Key
	format    seal.Format
	verifier  *admit.Verifier // nil in a round without tokens
	outer     *admit.Verifier
	opener    *seal.Opener
	digest    [32]byte
	mechanism fl.Mechanism

	mu       sync.Mutex
	refusals int // of calls, with UNAVAILABLE, after they were read
	messages []*service.SubmitReportsRequest
	items    map[[32]byte][]byte // by the id of what is sealed
	reports  [][]byte            // opened, each once: the report or the first share, then the second one
}

// openShuffler starts a shuffler with an open round of coco, which may be changed.
func openShuffler(t *testing.T, change func(*fl.Round)) (*shuffler, *grpc.ClientConn) {
	t.Helper()
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		t.Fatal(err)
	}
	r := fl.Round{
		ID: "r", Mechanism: coco.Name, Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1000, PublicSeed: [32]byte{1},
		Params: fl.Params{sparse.ParamSparsity: fl.Int(4)}, Shuffler: shufflerName, SealKey: key.Public(),
	}
	change(&r)
	s := &shuffler{status: openStatus(t, r), key: key, items: map[[32]byte][]byte{}}
	if r, err = fl.RoundFromProto(s.status.Round); err != nil {
		t.Fatal(err)
	}
	if s.mechanism, err = fl.Open(r); err != nil {
		t.Fatal(err)
	}
	if s.format, err = seal.FormatOf(r, s.mechanism); err != nil {
		t.Fatal(err)
	}
	if s.digest, err = r.Digest(); err != nil {
		t.Fatal(err)
	}
	s.opener = key.NewOpener(s.digest)
	if len(r.IssuerKey) > 0 {
		if s.verifier, err = admit.NewVerifier(r.IssuerKey, s.digest); err != nil {
			t.Fatal(err)
		}
		if s.outer, err = admit.NewVerifier(r.OuterIssuerKey, s.digest); err != nil {
			t.Fatal(err)
		}
	}
	return s, dialRounds(t, s)
}

// twoServers makes a round one of gaussian-shares.
func twoServers(r *fl.Round) {
	r.Mechanism, r.Epsilon, r.Delta, r.Dim, r.MinReports = hdsum.SharesName, 1, 1e-6, 8, 2000
	r.Params, r.ShareKey = nil, secondKey().Public()
}

// secondKey is the second server's key.
var secondKey = sync.OnceValue(func() *seal.Key {
	key, err := seal.GenerateKey(seal.X25519)
	if err != nil {
		panic(err)
	}
	return key
})

func (s *shuffler) GetRound(_ context.Context, _ *service.GetRoundRequest) (*service.GetRoundResponse, error) {
	return &service.GetRoundResponse{Status: s.status}, nil
}

func (s *shuffler) SubmitReports(stream grpc.ClientStreamingServer[service.SubmitReportsRequest, service.SubmitReportsResponse]) error {
	resp := &service.SubmitReportsResponse{}
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := s.take(req, resp); err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusals > 0 {
		s.refusals--
		return status.Error(codes.Unavailable, "later")
	}
	return stream.SendAndClose(resp)
}

// take keeps and opens the items of a message.
func (s *shuffler) take(req *service.SubmitReportsRequest, resp *service.SubmitReportsResponse) error {
	if len(req.GetBatchKey()) > 0 || !slices.Equal(req.GetRoundDigest(), s.digest[:]) {
		return errors.New("a shuffler gets no batch key, and reports for its round")
	}
	if s.outer == nil && len(req.GetTokens()) > 0 {
		return errors.New("a token in a round that asks for none")
	}
	if s.outer != nil {
		if err := s.outer.Verify(req.GetTokens()); err != nil { // of the one report
			return err
		}
	}
	items, err := seal.Split(req.GetReports(), s.format.Item())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, req)
	for _, item := range items {
		id := seal.ID(item[:s.format.Sealed])
		if _, known := s.items[id]; known {
			resp.Duplicates++
			continue
		}
		plain, err := s.opener.Open(item[:s.format.Sealed])
		if err != nil {
			return err
		}
		if s.verifier != nil {
			if err := s.verifier.Verify(plain[s.format.Report+s.format.Tag:]); err != nil {
				return err
			}
		}
		var share, tag []byte
		if s.format.Second > 0 {
			if share, tag, err = secondKey().NewShareOpener(s.format, s.digest).Open(item); err != nil {
				return err
			}
		}
		if !slices.Equal(tag, plain[s.format.Report:s.format.Report+s.format.Tag]) {
			return errors.New("the tag in the seal is not the second share's")
		}
		s.items[id] = slices.Clone(item)
		s.reports = append(s.reports, slices.Concat(plain[:s.format.Report], share))
		resp.Accepted++
	}
	return nil
}

// pinned is a policy for rounds of a shuffler: central ε = 1 at δ = 1e-6.
func (s *shuffler) pinned() fl.Policy {
	return fl.Policy{Relation: fl.ZeroOut, Shuffled: &fl.ShuffledPolicy{
		Shufflers: []string{shufflerName}, SealKeys: [][32]byte{s.key.Fingerprint()}, ShareKeys: [][32]byte{secondKey().Fingerprint()}, MaxEpsilonLocal: 2, MaxEpsilon: 1, MaxDelta: 1e-6,
	}}
}

// both is a policy of a client that takes part in rounds of twoServers.
func (s *shuffler) both() fl.Policy {
	policy := s.pinned()
	policy.MaxEpsilon, policy.MaxDelta, policy.Mechanisms = 1, 1e-6, []string{hdsum.SharesName}
	return policy
}

// joinWith joins the open round with a policy.
func joinWith(t *testing.T, conn grpc.ClientConnInterface, opts client.Options) *client.Participation {
	t.Helper()
	c, err := client.New(conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	return joinRound(t, c, "r")
}
