package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/seal"
)

// maxFormats bounds the rounds whose formats are remembered.
const maxFormats = 64

// upstream is a connection of a shuffler to the leader, which publishes reports in place of
// calling the leader with them.
type upstream struct {
	grpc.ClientConnInterface
	publisher *publisher

	mu    sync.Mutex
	sizes map[[32]byte]int // of sealed reports, by the digest of the round
}

// Upstream returns a shuffler's connection to the cluster: shuffler.Config.Upstream. leader is a connection
// to the leader's services Rounds and Shuffled. The returned one answers ForwardReports itself, when
// the brokers have the reports on disk. It rejects none, because nobody has opened them yet. All
// other calls go to the leader.
func (c *Cluster) Upstream(leader grpc.ClientConnInterface) grpc.ClientConnInterface {
	return &upstream{ClientConnInterface: leader, publisher: c.publisher, sizes: map[[32]byte]int{}}
}

// Invoke implements grpc.ClientConnInterface.
func (u *upstream) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	req, ours := args.(*service.ForwardReportsRequest)
	if method != service.Shuffled_ForwardReports_FullMethodName || !ours {
		return u.ClientConnInterface.Invoke(ctx, method, args, reply, opts...)
	}
	err := u.forward(ctx, req)
	var param *fl.ParamError
	switch {
	case err == nil:
		return nil // nothing is rejected
	case errors.Is(err, context.Canceled):
		return status.FromContextError(context.Canceled).Err()
	case errors.As(err, &param):
		return status.Error(codes.InvalidArgument, err.Error())
	case status.Code(err) != codes.Unknown:
		return err // the leader's
	}
	return status.Error(codes.Unavailable, err.Error())
}

func (u *upstream) forward(ctx context.Context, req *service.ForwardReportsRequest) error {
	if len(req.GetRoundDigest()) != 32 {
		return fl.Invalid("round_digest", fmt.Sprintf("%d bytes", len(req.GetRoundDigest())), "must have 32")
	}
	digest := [32]byte(req.GetRoundDigest())
	size, err := u.size(ctx, req.GetRoundId(), digest)
	if err != nil {
		return err
	}
	return u.publisher.forward(ctx, digest, req.GetSealed(), size)
}

// size returns the length of the sealed reports of a round, about which the leader is asked once.
func (u *upstream) size(ctx context.Context, id string, digest [32]byte) (int, error) {
	u.mu.Lock()
	size, known := u.sizes[digest]
	u.mu.Unlock()
	if known {
		return size, nil
	}
	resp, err := service.NewRoundsClient(u.ClientConnInterface).GetRound(ctx, &service.GetRoundRequest{RoundId: id})
	if err != nil {
		return 0, err
	}
	r, err := fl.RoundFromProto(resp.GetStatus().GetRound())
	if err != nil {
		return 0, err
	}
	found, err := r.Digest()
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(found[:], digest[:]) {
		return 0, status.Errorf(codes.FailedPrecondition, "round %s of the leader has the digest %x, not %x", id, found, digest)
	}
	m, err := fl.Open(r)
	if err != nil {
		return 0, err
	}
	format, err := seal.FormatOf(r, m)
	if err != nil {
		return 0, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.sizes) >= maxFormats {
		clear(u.sizes)
	}
	u.sizes[digest] = format.Sealed
	return format.Sealed, nil
}
