package fltest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// faulty is the toy with every method replaceable. The round's parameter "fault" names what
// is replaced.
type faulty struct {
	*toy
	encode          func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error)
	encodeFloat32   func(m *toy, dst []byte, grad []float32, rng *rand.Rand) ([]byte, error)
	encodeTier      func(m *toy, dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error)
	encodeKeyValues func(m *toy, dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error)
	encodeTernary   func(m *toy, dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error)
	tiers           func(m *toy) []fl.Guarantee
	guarantee       func(m *toy) fl.Guarantee
	reportBytes     func(m *toy) int
	cost            func(m *toy) fl.Cost
	advice          func(m *toy) []string
	shuffled        func(m *toy) fl.Amplification

	add             func(a *faultyAggregator, report []byte) error
	addBatch        func(a *faultyAggregator, reports [][]byte) error
	merge           func(a *faultyAggregator, other fl.Aggregator) error
	estimate        func(a *faultyAggregator) (*fl.Estimate, error)
	marshalBinary   func(a *faultyAggregator) ([]byte, error)
	unmarshalBinary func(a *faultyAggregator, data []byte) error

	params   func(r fl.Round) error
	complete func(r fl.Round) (fl.Round, error)
}

// faultyAggregator has room for what some faults remember.
type faultyAggregator struct {
	*toyAggregator
	faults *faulty
	kept   []byte
	series fl.Series
	others []*toyAggregator
	times  int
}

func newFaulty(m *toy) *faulty {
	return &faulty{
		toy: m, encode: (*toy).Encode, encodeFloat32: (*toy).EncodeFloat32, encodeTier: (*toy).EncodeTier, encodeKeyValues: (*toy).EncodeKeyValues,
		encodeTernary: (*toy).EncodeTernary, tiers: (*toy).Tiers, guarantee: (*toy).Guarantee, reportBytes: (*toy).ReportBytes,
		cost: (*toy).Cost, advice: (*toy).Advice, shuffled: (*toy).Shuffled,
		add:      func(a *faultyAggregator, report []byte) error { return a.toyAggregator.Add(report) },
		addBatch: func(a *faultyAggregator, reports [][]byte) error { return a.toyAggregator.AddBatch(reports) },
		merge: func(a *faultyAggregator, other fl.Aggregator) error {
			if o, ok := other.(*faultyAggregator); ok {
				other = o.toyAggregator
			}
			return a.toyAggregator.Merge(other)
		},
		estimate:        func(a *faultyAggregator) (*fl.Estimate, error) { return a.toyAggregator.Estimate() },
		marshalBinary:   func(a *faultyAggregator) ([]byte, error) { return a.toyAggregator.MarshalBinary() },
		unmarshalBinary: func(a *faultyAggregator, data []byte) error { return a.toyAggregator.UnmarshalBinary(data) },
		params:          func(r fl.Round) error { return r.Params.Only("fault") },
		complete:        func(r fl.Round) (fl.Round, error) { return r, nil },
	}
}

func (f *faulty) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return f.encode(f.toy, dst, grad, rng)
}
func (f *faulty) EncodeFloat32(dst []byte, grad []float32, rng *rand.Rand) ([]byte, error) {
	return f.encodeFloat32(f.toy, dst, grad, rng)
}
func (f *faulty) EncodeTier(dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
	return f.encodeTier(f.toy, dst, tier, grad, rng)
}
func (f *faulty) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	return f.encodeKeyValues(f.toy, dst, pairs, rng)
}
func (f *faulty) EncodeTernary(dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
	return f.encodeTernary(f.toy, dst, x, rng)
}
func (f *faulty) Tiers() []fl.Guarantee      { return f.tiers(f.toy) }
func (f *faulty) Guarantee() fl.Guarantee    { return f.guarantee(f.toy) }
func (f *faulty) ReportBytes() int           { return f.reportBytes(f.toy) }
func (f *faulty) Cost() fl.Cost              { return f.cost(f.toy) }
func (f *faulty) Advice() []string           { return f.advice(f.toy) }
func (f *faulty) Shuffled() fl.Amplification { return f.shuffled(f.toy) }
func (f *faulty) NewAggregator() fl.Aggregator {
	return &faultyAggregator{toyAggregator: f.toy.NewAggregator().(*toyAggregator), faults: f}
}

func (a *faultyAggregator) Add(report []byte) error         { return a.faults.add(a, report) }
func (a *faultyAggregator) AddBatch(reports [][]byte) error { return a.faults.addBatch(a, reports) }
func (a *faultyAggregator) Merge(other fl.Aggregator) error { return a.faults.merge(a, other) }
func (a *faultyAggregator) Estimate() (*fl.Estimate, error) { return a.faults.estimate(a) }
func (a *faultyAggregator) MarshalBinary() ([]byte, error)  { return a.faults.marshalBinary(a) }
func (a *faultyAggregator) UnmarshalBinary(data []byte) error {
	return a.faults.unmarshalBinary(a, data)
}

// fault is one thing that is wrong with the toy.
type fault struct {
	name string
	part string // of the contract, as errors name it
	says string // part of the error
	make func(f *faulty)
}

type faultyFactory struct{ toyFactory }

func (faultyFactory) make(r fl.Round) (*faulty, error) {
	name, err := r.Params.Text("fault")
	if err != nil {
		return nil, err
	}
	m, err := newToy(r)
	if err != nil {
		return nil, err
	}
	f := newFaulty(m)
	for _, fault := range faults() {
		if fault.name == name {
			fault.make(f)
		}
	}
	return f, nil
}

func (factory faultyFactory) Open(r fl.Round) (fl.Mechanism, error) {
	f, err := factory.make(r)
	if err != nil {
		return nil, err
	}
	return f, f.params(r)
}

func (factory faultyFactory) Complete(r fl.Round) (fl.Round, error) {
	f, err := factory.make(r)
	if err != nil {
		return fl.Round{}, err
	}
	return f.complete(r)
}

func init() { fl.Register("faulty", faultyFactory{}) }

func faults() []fault {
	return slices.Concat(mechanismFaults(), inputFaults(), aggregatorFaults(), estimateFaults())
}

// Each fault is found by the part of the check that is about it. Without a fault there is
// nothing to find.
func TestEachFaultIsFound(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	r := round("faulty")
	r.Dim = 6
	r.Params = fl.Params{"fault": fl.Text("none")}
	if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
		t.Errorf("no fault: %v", err)
	}
	for _, fault := range faults() {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			r := r
			r.Params = fl.Params{"fault": fl.Text(fault.name)}
			err := fltest.Mechanism(r, fltest.Options{})
			if err == nil {
				t.Fatal("was not found")
			}
			for _, line := range strings.Split(err.Error(), "\n") {
				if strings.HasPrefix(line, "fltest: "+fault.part+": ") && strings.Contains(line, fault.says) {
					return
				}
			}
			t.Errorf("found as %v, want an error of the part %q that says %q", err, fault.part, fault.says)
		})
	}
}

// countdown is the toy that panics when it has encoded as many reports as are left.
type countdown struct {
	toyFactory
	left *atomic.Int64
}

func (c countdown) Open(r fl.Round) (fl.Mechanism, error) {
	m, err := newToy(r)
	if err != nil {
		return nil, err
	}
	f := newFaulty(m)
	f.encode = func(m *toy, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
		if c.left.Add(-1) < 0 {
			panic("no report is left")
		}
		return m.Encode(dst, grad, rng)
	}
	return f, nil
}

// Wherever a mechanism panics, also in another goroutine, the check ends with an error.
func TestPanicsAreErrors(t *testing.T) {
	const plenty = 1 << 40
	var left atomic.Int64
	left.Store(plenty)
	name := fmt.Sprintf("countdown-%d", len(fl.Mechanisms()))
	fl.Register(name, countdown{left: &left})
	r := round(name)
	_ = fltest.Mechanism(r, fltest.Options{})
	encoded := plenty - left.Load()
	for n := int64(0); n < encoded; n += 61 {
		left.Store(n)
		if err := fltest.Mechanism(r, fltest.Options{}); err == nil || !strings.Contains(err.Error(), "panic: no report is left") {
			t.Errorf("a panic at report %d of %d: error %v", n, encoded, err)
		}
	}
}
