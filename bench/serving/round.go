package serving

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/admit"
	"github.com/hushgrad/hushgrad/server/client"
)

// server is a process with a service that takes reports.
type server struct {
	*Process
	drops  bool            // it is gRPC alone
	rounds map[traffic]int // opened so far, by what was sent in them
	sealed int             // rounds with a shuffler opened so far
}

func newServer(p *Process) *server { return &server{Process: p, rounds: map[traffic]int{}} }

// round is a round that is open on a server, with what clients send in it.
type round struct {
	fl.Round
	load     *load
	digest   [32]byte
	messages uint64 // that clients send at most
	reports  int    // in a message
	tokens   []byte // of all messages, nil if the round asks for none
}

// open opens a round of its own for traffic. Rounds for the same traffic are the same on all
// servers, which then take the same tokens.
func (s *server) open(ctx context.Context, t traffic) (r *round, err error) {
	s.rounds[t]++
	r = &round{Round: t.load.round, load: t.load, messages: t.messages(), reports: t.reports}
	r.ID = fmt.Sprintf("s%d-%d-%d-%d-%d", t.load.sparsity, t.reports, t.clients, t.limit, s.rounds[t]) // the same on all servers
	if t.issuer != nil {
		r.IssuerKey = t.issuer.public
	}
	if r.digest, err = r.Digest(); err != nil {
		return nil, err
	}
	switch {
	case t.issuer == nil:
	case s.drops: // and looks at nothing
		r.tokens = make([]byte, t.limit*admit.TokenBytes)
	default:
		if r.tokens, err = t.issuer.tokens(ctx, r.digest, t.limit); err != nil {
			return nil, err
		}
	}
	if !s.drops {
		_, err = client.NewOperator(s.Conns[0]).OpenRound(ctx, r.Round)
	}
	return r, err
}

// abort drops the round and its reports.
func (s *server) abort(ctx context.Context, r *round) error {
	if s.drops {
		return nil
	}
	return client.NewOperator(s.Conns[0]).AbortRound(ctx, r.ID)
}

// counts is what a receipt says of one report of a load: gRPC alone counts bytes.
func (s *server) counts(l *load) uint64 {
	if s.drops {
		return uint64(l.size)
	}
	return 1
}

// request returns message number n, the first of which is 0.
func (r *round) request(n uint64) *service.SubmitReportsRequest {
	from := int(n*uint64(r.reports)%poolReports) * r.load.size
	m := &service.SubmitReportsRequest{RoundId: r.ID, RoundDigest: r.digest[:], Reports: r.load.pool[from : from+r.reports*r.load.size]}
	if r.tokens == nil {
		m.BatchKey = binary.BigEndian.AppendUint64(make([]byte, 8, 16), n)
		return m
	}
	size := r.reports * admit.TokenBytes
	m.Tokens = r.tokens[int(n)*size:][:size]
	m.Reports = bytes.Clone(m.Reports) // the pool is everybody's
	for i := range r.reports {
		assign(m.Reports[i*r.load.size:], m.Tokens[i*admit.TokenBytes:][:admit.TokenBytes])
	}
	return m
}

// assign puts the seed that a token assigns into a report of coco.
func assign(report, token []byte) { binary.LittleEndian.PutUint32(report, admit.Seed(token)) }
