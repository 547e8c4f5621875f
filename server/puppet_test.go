package server

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// puppet is a mechanism that does what its input says. A report is one byte:
//
//	c  is counted
//	w  waits until the test sends the outcome on the round's gate
//	p  makes the aggregator panic
//
// and anything else is no report. The round's parameter "panics" (open, estimate
// or keyvalues) names a method that panics, "fails" (merge) one that returns an
// error, and "report_bytes" is what the mechanism says about its reports.
type puppet struct {
	round       fl.Round
	fails       string
	panics      string
	reportBytes int
}

// puppetSecret is in every panic and error of a puppet: callers must not see it.
const puppetSecret = "strings attached"

func init() { fl.Register("puppet", puppetFactory{}) }

type puppetFactory struct{}

func (puppetFactory) Open(r fl.Round) (fl.Mechanism, error) {
	m := puppet{round: r, reportBytes: 1}
	var err error
	if r.Params.Has("panics") {
		if m.panics, err = r.Params.Text("panics"); err != nil {
			return nil, err
		}
	}
	if r.Params.Has("fails") {
		if m.fails, err = r.Params.Text("fails"); err != nil {
			return nil, err
		}
	}
	if r.Params.Has("report_bytes") {
		if m.reportBytes, err = r.Params.Int("report_bytes"); err != nil {
			return nil, err
		}
	}
	m.perform("open")
	return m, nil
}

func (m puppet) perform(method string) {
	if m.panics == method {
		panic(puppetSecret)
	}
}

func (m puppet) Encode(dst []byte, _ []float64, _ *rand.Rand) ([]byte, error) {
	return append(dst, 'c'), nil
}

func (m puppet) ReportBytes() int { return m.reportBytes }

func (m puppet) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m puppet) NewAggregator() fl.Aggregator { return &puppetAggregator{puppet: m} }

type puppetAggregator struct {
	puppet
	reports int64
	decoded int // calls of KeyValues
}

func (a *puppetAggregator) Add(report []byte) error { return a.AddBatch([][]byte{report}) }

func (a *puppetAggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		switch string(report) {
		case "c":
		case "w":
			if err := <-gateOf(a.round.ID); err != nil {
				return &fl.BatchError{Index: i, Err: err}
			}
		case "p":
			panic(puppetSecret)
		default:
			return &fl.BatchError{Index: i, Err: fmt.Errorf("puppet: %w", fl.ErrBadReport)}
		}
	}
	a.reports += int64(len(reports))
	return nil
}

func (a *puppetAggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*puppetAggregator)
	if !ok || a.fails == "merge" {
		return errors.New(puppetSecret)
	}
	a.reports += o.reports
	return nil
}

func (a *puppetAggregator) Estimate() (*fl.Estimate, error) {
	a.perform("estimate")
	series := fl.Series{Value: make([]float64, a.round.Dim), StdErr: make([]float64, a.round.Dim)}
	return &fl.Estimate{Series: series, Reports: a.reports, Mechanism: "puppet", Guarantee: a.Guarantee()}, nil
}

func (a *puppetAggregator) KeyValues() (*fl.KeyValueEstimate, error) {
	a.perform("keyvalues")
	a.decoded++
	return &fl.KeyValueEstimate{Conditional: []float64{float64(a.decoded)}, Reports: a.reports, Mechanism: "puppet", Guarantee: a.Guarantee()}, nil
}

func (a *puppetAggregator) MarshalBinary() ([]byte, error) { return nil, errors.ErrUnsupported }

func (a *puppetAggregator) UnmarshalBinary([]byte) error { return errors.ErrUnsupported }

// gates holds the channel of each round whose reports wait.
var gates sync.Map

// newGate makes the gate of a round: each value sent on it lets one waiting
// report through (nil) or refuses it.
func newGate(t testing.TB, id string) chan<- error {
	t.Helper()
	gate := make(chan error)
	if _, taken := gates.LoadOrStore(id, gate); taken {
		t.Fatalf("round %q has a gate already", id)
	}
	t.Cleanup(func() { gates.Delete(id) })
	return gate
}

func gateOf(id string) <-chan error {
	gate, _ := gates.Load(id)
	return gate.(chan error)
}
