package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hushgrad/hushgrad/server/client"
)

// durable starts a server with a journal in a directory.
func (b *bench) durable(ctx context.Context, dir string) (*server, error) {
	p, err := Start(ctx, b.binary, "--role", "server", "--data", dir)
	if err != nil {
		return nil, err
	}
	return newServer(p), nil
}

// anew calls do with a directory for the journal of a new server, and removes it.
func (b *bench) anew(do func(dir string) ([]float64, error)) ([]float64, error) {
	dir, err := os.MkdirTemp(b.work, "journal-")
	if err != nil {
		return nil, err
	}
	values, err := do(dir)
	return values, errors.Join(err, os.RemoveAll(dir))
}

// recovery measures how long a server that was killed takes to answer again: from the start of
// its process to the first answer, which has every report. None of them is in a snapshot.
func (b *bench) recovery() *measurement {
	t := traffic{load: b.wide, reports: 64, clients: streamers, limit: b.replayed}
	m := &measurement{what: "recovery", setting: fmt.Sprintf("%d reports to read again, s = %d", b.replayed, t.load.sparsity), unit: "s", aim: 2, atMost: true}
	m.measure = func(ctx context.Context) ([]float64, error) {
		return b.anew(func(dir string) ([]float64, error) {
			s, err := b.durable(ctx, dir)
			if err != nil {
				return nil, err
			}
			r, err := s.open(ctx, t)
			if err == nil {
				_, err = t.send(ctx, s, r, 0)
			}
			if err := errors.Join(err, s.Kill()); err != nil {
				return nil, err
			}
			begin := time.Now()
			if s, err = b.durable(ctx, dir); err != nil {
				return nil, err
			}
			reports, err := s.reports(ctx, r.ID)
			took := time.Since(begin).Seconds()
			if err == nil && reports != uint64(b.replayed) {
				err = fmt.Errorf("serving: %d of %d reports came back", reports, b.replayed)
			}
			return []float64{took}, errors.Join(err, s.Kill())
		})
	}
	return m
}

// memory measures the largest memory of a server while clients send.
func (b *bench) memory() *measurement {
	t := traffic{load: b.wide, reports: 64, clients: streamers}
	m := &measurement{what: "largest memory, journal on disk", setting: t.String(), unit: "MB", aim: 512, atMost: true}
	m.measure = func(ctx context.Context) ([]float64, error) {
		return b.anew(func(dir string) ([]float64, error) {
			s, err := b.durable(ctx, dir)
			if err != nil {
				return nil, err
			}
			_, err = t.measure(ctx, s, b.window)
			peak, unknown := s.PeakBytes()
			return []float64{peak / 1e6}, errors.Join(err, unknown, s.Kill())
		})
	}
	return m
}

// reports is the exact number of reports of a round, as the operator gets it.
func (s *server) reports(ctx context.Context, id string) (uint64, error) {
	rounds, err := client.NewOperator(s.Conns[0]).Rounds(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range rounds {
		if r.Round.ID == id {
			return uint64(r.Reports), nil
		}
	}
	return 0, fmt.Errorf("serving: the server has no round %q", id)
}
