package server

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// partReports is the number of sealed reports that are opened and counted together, on one core.
// It takes about 0.1 s.
const partReports = 1024

// forwardedReport is a report as the shuffler passes it on.
type forwardedReport struct {
	sealed []byte
	tag    []byte // of the second server's share, empty for a mechanism for one server
}

// forward counts sealed reports. reasons says, for each, why it does not count, or nil.
func (r *round) forward(ctx context.Context, sealed []forwardedReport) (reasons []error, got receipt, err error) {
	reasons = make([]error, len(sealed))
	var accepted, duplicates atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < len(sealed); first += partReports {
		end := min(first+partReports, len(sealed))
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil { // nobody else would: this is no handler of a call
					err = fmt.Errorf("%w: panic: %v", errInterrupted, p)
				}
			}()
			got, err := r.forwardPart(ctx, sealed[first:end], reasons[first:end])
			accepted.Add(got.accepted)
			duplicates.Add(got.duplicates)
			return err
		})
	}
	err = group.Wait()
	return reasons, receipt{accepted.Load(), duplicates.Load()}, err
}

func (r *round) forwardPart(ctx context.Context, sealed []forwardedReport, reasons []error) (got receipt, err error) {
	units, err := r.unseal(ctx, sealed, reasons)
	// What has the key of another unit is decided after it, when it is known whether that one counts.
	for err == nil && len(units) > 0 {
		var once []unit
		var more receipt
		once, units = apart(units)
		more, err = r.submit(ctx, once, func(u unit, why error) { reasons[u.place] = why })
		got.accepted += more.accepted
		got.duplicates += more.duplicates
	}
	return got, err
}

// unseal returns the units in sealed reports that can be opened.
func (r *round) unseal(ctx context.Context, sealed []forwardedReport, reasons []error) ([]unit, error) {
	units := make([]unit, 0, len(sealed))
	for i, s := range sealed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u, err := r.sealing.open(s.sealed, s.tag)
		if err != nil {
			reasons[i] = err
			continue
		}
		u.place = i
		units = append(units, u)
	}
	return units, nil
}

// apart returns the first unit with each key, and the others.
func apart(units []unit) (once, again []unit) {
	seen := make(map[string]bool, len(units))
	once = units[:0]
	for _, u := range units {
		if seen[u.key] {
			again = append(again, u)
			continue
		}
		seen[u.key] = true
		once = append(once, u)
	}
	return once, again
}
