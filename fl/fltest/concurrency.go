package fltest

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
)

// goroutinesEncodeAtOnce: each goroutine encodes with a generator of its own and fills an
// aggregator of its own. The reports are those that one goroutine alone would encode.
func (s *suite) goroutinesEncodeAtOnce() error {
	const goroutines, perGoroutine = 8, 8
	encode := func(g int) (reports [][]byte, err error) {
		rng := s.rand(uint64(100 + g))
		for i := range perGoroutine {
			report, err := s.mechanism.Encode(nil, s.gradient(g+i), rng)
			if err != nil {
				return nil, err
			}
			reports = append(reports, report)
		}
		return reports, nil
	}
	var (
		together    [goroutines][][]byte
		aggregators [goroutines]fl.Aggregator
		errs        [goroutines]error
		wait        sync.WaitGroup
	)
	start := make(chan struct{})
	for g := range goroutines {
		wait.Go(func() {
			<-start
			errs[g] = protect(func() (err error) {
				if together[g], err = encode(g); err != nil {
					return err
				}
				if aggregators[g], err = s.filled(together[g]); err != nil {
					return err
				}
				_, err = s.mechanism.Encode(nil, s.gradient(g), nil)
				s.mechanism.Guarantee()
				return err
			})
		})
	}
	close(start)
	wait.Wait()
	if err := cmp.Or(errs[:]...); err != nil {
		return err
	}
	total := s.mechanism.NewAggregator()
	for g := range goroutines {
		alone, err := encode(g)
		if err != nil {
			return err
		}
		for i, report := range together[g] {
			if !bytes.Equal(report, alone[i]) {
				return fmt.Errorf("a report encoded beside others is %x, encoded alone %x", report, alone[i])
			}
		}
		if err := total.Merge(aggregators[g]); err != nil {
			return err
		}
	}
	return nil
}
