package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/internal/service"
)

// traffic is one way to send reports.
type traffic struct {
	load    *load
	reports int     // in a message
	calls   bool    // one message in each call; otherwise every client keeps one call
	clients int     // that send at the same time
	limit   int     // reports that are sent in all, a multiple of reports; 0: as many as there is time for
	issuer  *issuer // of the tokens that come with the reports; nil: none do
}

// messages is how many messages clients send at most.
func (t traffic) messages() uint64 {
	if t.limit > 0 {
		return uint64(t.limit / t.reports)
	}
	return math.MaxUint64
}

// speed is what one measurement found.
type speed struct {
	rate            float64 // reports per second, acknowledged
	server, clients float64 // seconds of processor time per report
}

// measure sends traffic to a server in a round of its own, which it drops again.
func (t traffic) measure(ctx context.Context, s *server, window time.Duration) (speed, error) {
	r, err := s.open(ctx, t)
	if err != nil {
		return speed{}, err
	}
	got, err := t.send(ctx, s, r, window)
	if err != nil {
		return got, err
	}
	return got, s.abort(ctx, r)
}

// send lets clients send for about the window, or until the limit, and waits for the last
// acknowledgement. Reports that are not acknowledged as counted are an error.
func (t traffic) send(ctx context.Context, s *server, r *round, window time.Duration) (speed, error) {
	server, clients, err := s.Processors()
	if err != nil {
		return speed{}, err
	}
	var numbers, sent atomic.Uint64
	start := time.Now()
	until := start.Add(window)
	// next returns a message, or nil when there is none left or, behind one for every client,
	// no time for it.
	next := func() *service.SubmitReportsRequest {
		n := numbers.Add(1) - 1
		if n >= r.messages || t.limit == 0 && n >= uint64(t.clients) && !time.Now().Before(until) {
			return nil
		}
		return r.request(n)
	}
	group, inner := errgroup.WithContext(ctx)
	for i := range t.clients {
		rounds := service.NewRoundsClient(s.Conns[i%len(s.Conns)])
		group.Go(func() error {
			for m := next(); m != nil; m = next() {
				n, err := t.call(inner, rounds, s.counts(t.load), m, next)
				if err != nil {
					return err
				}
				sent.Add(n)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return speed{}, err
	}
	took, reports := time.Since(start), float64(sent.Load())
	serverAfter, clientsAfter, err := s.Processors()
	return speed{reports / took.Seconds(), (serverAfter - server) / reports, (clientsAfter - clients) / reports}, err
}

// call is one call: of one message, or of all messages that are left. each is what the server's
// receipt says of one report.
func (t traffic) call(ctx context.Context, rounds service.RoundsClient, each uint64, m *service.SubmitReportsRequest, next func() *service.SubmitReportsRequest) (sent uint64, err error) {
	stream, err := rounds.SubmitReports(ctx)
	if err != nil {
		return 0, err
	}
	for m != nil {
		if err := stream.Send(m); errors.Is(err, io.EOF) {
			break // the reason comes with the answer
		} else if err != nil {
			return 0, err
		}
		sent += uint64(t.reports)
		if m = nil; !t.calls {
			m = next()
		}
	}
	resp, err := stream.CloseAndRecv()
	if err == nil && resp.GetAccepted() != sent*each {
		err = fmt.Errorf("serving: %d of %d reports were counted", resp.GetAccepted()/each, sent)
	}
	return sent, err
}
