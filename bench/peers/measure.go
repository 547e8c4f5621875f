package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	repetitions = 5  // every number is their median
	clients     = 64 // distinct vectors and reports that the loops go round
)

// row is one line of the table.
type row struct {
	about
	Bytes  float64 // mean over the clients
	Join   float64 // µs, not part of Client
	Client float64 // µs
	Server float64 // µs
	Finish float64 // µs, not part of Server
	Ratios ratios  // this row over the first one
}

// ratios compares a row to the first one of the table.
type ratios struct {
	Bytes  float64
	Client float64
	Server float64
}

// loop is an operation under measurement.
type loop struct {
	op    func(i int) error
	count int       // operations per repetition
	costs []float64 // µs per operation, one for every repetition
}

// measure times all contenders on the same vectors. Each of the repetitions of
// each operation takes about the duration each.
func measure(all []contender, xs []fl.Ternary, each time.Duration) ([]row, error) {
	rows := make([]row, len(all))
	loops := make([][3]*loop, len(all)) // join, client, server
	for k, c := range all {
		rows[k].about = c.about()
		reports := make([]report, len(xs))
		for i, x := range xs {
			var err error
			if reports[i], err = c.encode(x); err != nil {
				return nil, fmt.Errorf("%s: %w", rows[k].Name, err)
			}
			rows[k].Bytes += float64(reports[i].bytes()) / float64(len(xs))
		}
		var err error
		if rows[k].Finish, err = finish(c, reports); err != nil {
			return nil, fmt.Errorf("%s: %w", rows[k].Name, err)
		}
		loops[k][0] = &loop{op: func(int) error { return c.join() }}
		loops[k][1] = &loop{op: func(i int) error { _, err := c.encode(xs[i%len(xs)]); return err }}
		loops[k][2] = &loop{op: func(i int) error { return c.add(reports[i%len(reports)]) }}
		for _, l := range loops[k] {
			if err := l.calibrate(each); err != nil {
				return nil, fmt.Errorf("%s: %w", rows[k].Name, err)
			}
		}
	}
	for range repetitions {
		for k := range loops {
			for _, l := range loops[k] {
				if err := l.repeat(); err != nil {
					return nil, fmt.Errorf("%s: %w", rows[k].Name, err)
				}
			}
		}
	}
	for k := range rows {
		r := &rows[k]
		r.Join, r.Client, r.Server = median(loops[k][0].costs), median(loops[k][1].costs), median(loops[k][2].costs)
		r.Ratios = ratios{Bytes: r.Bytes / rows[0].Bytes, Client: r.Client / rows[0].Client, Server: r.Server / rows[0].Server}
	}
	return rows, nil
}

// finish returns the median time to read the sum, in µs, when all reports and a
// few more are in. A report comes in before every reading, so that no result can
// be kept from the last one.
func finish(c contender, reports []report) (float64, error) {
	for _, r := range reports {
		if err := c.add(r); err != nil {
			return 0, err
		}
	}
	var costs []float64
	for range repetitions {
		if err := c.add(reports[0]); err != nil {
			return 0, err
		}
		runtime.GC()
		start := time.Now()
		if _, err := c.sum(); err != nil {
			return 0, err
		}
		costs = append(costs, microseconds(time.Since(start)))
	}
	return median(costs), nil
}

// calibrate finds how many operations take about the duration each.
func (l *loop) calibrate(each time.Duration) error {
	for l.count = 1; ; l.count *= 2 {
		took, err := l.run()
		if err != nil {
			return err
		}
		if took >= each/4 {
			l.count = max(1, int(float64(l.count)*float64(each)/float64(took)))
			return nil
		}
	}
}

// repeat measures one repetition.
func (l *loop) repeat() error {
	runtime.GC()
	took, err := l.run()
	l.costs = append(l.costs, microseconds(took)/float64(l.count))
	return err
}

func (l *loop) run() (time.Duration, error) {
	start := time.Now()
	for i := range l.count {
		if err := l.op(i); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// median of an odd number of values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
