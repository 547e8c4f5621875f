package client

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
	"github.com/hushgrad/hushgrad/internal/service"
)

// Receipt says what became of a submission. A shuffler takes reports in, and the server counts them
// when the shuffler forwards the round.
type Receipt struct {
	Accepted   uint64 // reports counted by the last attempt
	Duplicates uint64 // reports that an earlier attempt had already got counted
}

// Submit sends reports in batches over one stream. While the server is
// unavailable it starts over with the same batch keys, so that no report is
// counted twice, however many attempts it takes. In a round with a shuffler each report is sealed by
// itself, about 0.1 ms for each, and starting over sends the same sealed bytes.
//
// After an error the reports may have been counted. To submit the same reports again, in the same
// order, sends the same batch keys and the same sealed bytes, until a call returns a receipt. Without a
// shuffler the order and the grouping matter, because a key belongs to a batch. The participation
// keeps them in memory: a client that may be killed needs a ledger. After a receipt the same bytes are
// another report.
//
// With a ledger there is one report, the one that Encode or Unfinished returned. The ledger
// records it as spent before its first byte leaves, and records the receipt in the end. In a
// round that asks for tokens there is one report, too, and FetchToken has fetched its token.
func (p *Participation) Submit(ctx context.Context, reports [][]byte) (receipt Receipt, err error) {
	defer prefix.Error(&err, "client: submit")
	if len(reports) == 0 {
		return Receipt{}, fl.Invalid("reports", "nothing", "at least one is required")
	}
	var batches []*service.SubmitReportsRequest
	if p.spending == nil {
		var marks []mark
		if batches, marks, err = p.batches(reports); err == nil {
			defer func() {
				if err != nil {
					p.doubtful.leave(marks)
				}
			}()
		}
	} else {
		batches, err = p.spending.spend(reports)
	}
	if err != nil {
		return Receipt{}, err
	}
	err = p.client.retry(ctx, func() (err error) {
		receipt, err = p.send(ctx, batches)
		return err
	})
	if err == nil && p.spending != nil {
		err = p.spending.acknowledge(receipt)
	}
	return receipt, err
}

// retry calls do, and again while the answer is UNAVAILABLE, as often as the options say.
func (c *Client) retry(ctx context.Context, do func() error) error {
	for attempt := 1; ; attempt++ {
		err := do()
		if err == nil {
			return nil
		}
		if status.Code(err) != codes.Unavailable || attempt == c.opts.Attempts {
			if attempt == 1 {
				return err
			}
			return fmt.Errorf("attempt %d: %w", attempt, err)
		}
		select {
		case <-time.After(backoff(attempt)):
		case <-ctx.Done():
			return fmt.Errorf("attempt %d: %w: %w", attempt, ctx.Err(), err)
		}
	}
}

// batches splits reports into messages. Without a shuffler each message has a key of its own. The
// marks are the keys, or the sealed reports.
func (p *Participation) batches(reports [][]byte) (out []*service.SubmitReportsRequest, marks []mark, err error) {
	items := reports
	if p.sealing != nil {
		if items, marks, err = p.items(reports); err != nil {
			return nil, nil, err
		}
	}
	if out, err = p.split(items); err != nil || p.sealing != nil {
		return out, marks, err
	}
	for _, message := range out {
		m := p.doubtful.take(message.Reports)
		if m.value == nil {
			m.value = newBatchKey()
		}
		message.BatchKey = m.value
		marks = append(marks, m)
	}
	return out, marks, nil
}

// items seals reports, except those that were sealed for a submission that is in doubt.
func (p *Participation) items(reports [][]byte) (items [][]byte, marks []mark, err error) {
	var fresh [][]byte
	for _, report := range reports {
		m := p.doubtful.take(report)
		if marks = append(marks, m); m.value == nil {
			fresh = append(fresh, report)
		}
	}
	sealed, err := p.sealing.Items(fresh)
	if err != nil {
		p.doubtful.leave(marks)
		return nil, nil, err
	}
	for i := range marks {
		if marks[i].value == nil {
			marks[i].value, sealed = sealed[0], sealed[1:]
		}
		items = append(items, marks[i].value)
	}
	return items, marks, nil
}

// split packs reports, or sealed reports, into messages.
func (p *Participation) split(items [][]byte) (out []*service.SubmitReportsRequest, err error) {
	inLast := 0
	var packed []byte
	for _, item := range items {
		if p.sealing != nil {
			packed = item
		} else if packed, err = fl.PackReports(p.mechanism, packed[:0], item); err != nil {
			return nil, err
		}
		if last := len(out) - 1; last < 0 || inLast == fl.MaxBatch || len(out[last].Reports)+len(packed) > p.client.opts.BatchBytes {
			out = append(out, p.message())
			inLast = 0
		}
		last := out[len(out)-1]
		last.Reports = append(last.Reports, packed...)
		inLast++
	}
	return out, nil
}

// message is one without reports.
func (p *Participation) message() *service.SubmitReportsRequest {
	return &service.SubmitReportsRequest{RoundId: p.round.ID, RoundDigest: p.digest[:]}
}

// newBatchKey draws a key by which a batch is known when it comes again. A shuffler knows a sealed
// report by itself.
func newBatchKey() []byte {
	key := make([]byte, batchKeyBytes)
	_, _ = crand.Read(key) // never fails
	return key
}

// send is one attempt.
func (p *Participation) send(ctx context.Context, batches []*service.SubmitReportsRequest) (Receipt, error) {
	if p.client.oblivious {
		return p.sendEach(ctx, batches)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.client.rounds.SubmitReports(ctx)
	if err != nil {
		return Receipt{}, err
	}
	for _, b := range batches {
		if err := stream.Send(b); errors.Is(err, io.EOF) {
			break // the reason comes with CloseAndRecv
		} else if err != nil {
			return Receipt{}, err
		}
	}
	resp, err := stream.CloseAndRecv()
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{Accepted: resp.GetAccepted(), Duplicates: resp.GetDuplicates()}, nil
}

// sendEach is send with a call for each batch.
func (p *Participation) sendEach(ctx context.Context, batches []*service.SubmitReportsRequest) (sum Receipt, err error) {
	for _, b := range batches {
		resp, err := p.client.rounds.SubmitBatch(ctx, b)
		if err != nil {
			return Receipt{}, err
		}
		sum.Accepted += resp.GetAccepted()
		sum.Duplicates += resp.GetDuplicates()
	}
	return sum, nil
}

// backoff doubles from 100 ms to 5 s and takes a random half of it, so that many
// clients do not come back at once.
func backoff(attempt int) time.Duration {
	limit := min(100*time.Millisecond<<min(attempt-1, 10), 5*time.Second)
	return limit/2 + time.Duration(fl.NewRand().Int64N(int64(limit/2)))
}
