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
	encode := func(g int) (reports [][]byte) {
		rng := s.rand(uint64(100 + g))
		for i := range perGoroutine {
			reports = append(reports, must(s.mechanism.Encode(nil, s.gradient(g+i), rng)))
		}
		return reports
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
			errs[g] = protect(func() error {
				together[g] = encode(g)
				aggregators[g] = s.filled(together[g])
				must(s.mechanism.Encode(nil, s.gradient(g), nil))
				s.mechanism.Guarantee()
				return nil
			})
		})
	}
	close(start)
	wait.Wait()
	fail(cmp.Or(errs[:]...))
	total := s.mechanism.NewAggregator()
	for g := range goroutines {
		alone := encode(g)
		for i, report := range together[g] {
			if !bytes.Equal(report, alone[i]) {
				return fmt.Errorf("a report encoded beside others is %x, encoded alone %x", report, alone[i])
			}
		}
		fail(total.Merge(aggregators[g]))
	}
	return nil
}
