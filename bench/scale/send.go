package scale

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hushgrad/hushgrad/bench/serving"
	"github.com/hushgrad/hushgrad/internal/service"
)

// part is a run of messages that is kept in a checkpoint when all are acknowledged.
type part struct{ from, to int }

// partClients is about the number of clients in a part.
const partClients = 1 << 20

// parts are all messages of the population.
func (p *population) parts() (all []part) {
	each := max(1, partClients/p.batch)
	for from := 0; from < p.messages(); from += each {
		all = append(all, part{from, min(from+each, p.messages())})
	}
	return all
}

// send lets the clients of a part encode and send, and then lets those that send again do so.
func (p *population) send(ctx context.Context, server *serving.Process, jobs int, of part) (*tally, error) {
	serverBefore, clientsBefore, err := server.Processors()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var mu sync.Mutex
	t := &tally{}
	var next atomic.Int64
	next.Store(int64(of.from))
	group, inner := errgroup.WithContext(ctx)
	for job := range jobs {
		group.Go(func() error {
			mine, err := p.job(inner, server, job, func() (int, bool) {
				i := int(next.Add(1)) - 1
				return i, i < of.to
			})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			t.add(mine.values())
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	t.seconds = time.Since(began).Seconds()
	serverAfter, clientsAfter, err := server.Processors()
	if err != nil {
		return nil, err
	}
	t.server, t.devices = serverAfter-serverBefore, clientsAfter-clientsBefore
	t.memory, err = server.PeakBytes()
	return t, err
}

// job sends messages until there is no next one, and then those again that are sent twice.
func (p *population) job(ctx context.Context, server *serving.Process, job int, next func() (int, bool)) (*tally, error) {
	rounds := service.NewRoundsClient(server.Conns[job%len(server.Conns)])
	t, from := &tally{}, p.sender()
	var again []*message
	first, err := rounds.SubmitReports(ctx)
	if err != nil {
		return nil, err
	}
	for i, more := next(); more; i, more = next() {
		m, err := from.message(i)
		if err != nil {
			return nil, err
		}
		t.dropped += float64(m.dropped)
		switch {
		case m.request == nil:
			continue
		case m.late:
			t.late += float64(m.reports)
			continue
		case m.resent:
			again = append(again, m)
		}
		t.count(m, proto.Size(m.request))
		if err := first.Send(m.request); err != nil {
			return nil, refused(first, err)
		}
	}
	if err := t.close(first); err != nil {
		return nil, err
	}
	second, err := rounds.SubmitReports(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range again {
		t.resent += float64(m.reports)
		t.bytes += float64(proto.Size(m.request))
		if err := second.Send(m.request); err != nil {
			return nil, refused(second, err)
		}
	}
	return t, t.close(second)
}

type stream interface {
	CloseAndRecv() (*service.SubmitReportsResponse, error)
}

// refused returns why a server takes no more messages.
func refused(s stream, err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	_, err = s.CloseAndRecv()
	return err
}

// close ends a call and takes down what the server says.
func (t *tally) close(s stream) error {
	receipt, err := s.CloseAndRecv()
	if err != nil {
		return err
	}
	t.accepted += float64(receipt.GetAccepted())
	t.duplicates += float64(receipt.GetDuplicates())
	return nil
}

// sendLate sends the messages that come when the round is closed, each in a call of its own, and
// returns how many reports the server refused. Any that it takes is an error.
func (p *population) sendLate(ctx context.Context, server *serving.Process) (reports int, err error) {
	rounds, from := service.NewRoundsClient(server.Conns[0]), p.sender()
	for i := range p.messages() {
		if rng := p.stream(i); !p.isLate(rng) {
			continue
		}
		m, err := from.message(i)
		if err != nil {
			return 0, err
		}
		if m.request == nil {
			continue
		}
		call, err := rounds.SubmitReports(ctx)
		if err != nil {
			return 0, err
		}
		if err := call.Send(m.request); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		receipt, err := call.CloseAndRecv()
		if err == nil {
			return 0, fmt.Errorf("scale: a closed round took %d reports", receipt.GetAccepted())
		}
		if status.Code(err) != codes.FailedPrecondition {
			return 0, err
		}
		reports += m.reports
	}
	return reports, nil
}
