package server

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
// and anything else is no report. Parameters of the round make it misbehave: "panics"
// (open or estimate) names a method that panics, "fails" (merge or estimate) one that
// returns an error, "returns" an estimate that is wrong in the way of PuppetEstimates, and
// "report_bytes" is what the mechanism says about its reports. With "waits" it opens once the test
// has received from PuppetOpens and then sent on it.
type puppet struct {
	round                  fl.Round
	panics, fails, returns string
	reportBytes            int
}

// puppetSecret is in every panic and error of a puppet: callers must not see it.
const puppetSecret = "strings attached"

// PuppetOpens says that a puppet that waits is opening, and then lets it open.
var PuppetOpens = make(chan struct{})

func init() { fl.Register("puppet", puppetFactory{}) }

type puppetFactory struct{}

// Columns implements fl.ColumnLister.
func (puppetFactory) Columns() []string { return []string{fl.ColumnFrequency, fl.ColumnPlus} }

func (puppetFactory) Open(r fl.Round) (fl.Mechanism, error) {
	m := puppet{round: r, reportBytes: 1}
	var err error
	for name, to := range map[string]*string{"panics": &m.panics, "fails": &m.fails, "returns": &m.returns} {
		if r.Params.Has(name) {
			if *to, err = r.Params.Text(name); err != nil {
				return nil, err
			}
		}
	}
	if r.Params.Has("report_bytes") {
		if m.reportBytes, err = r.Params.Int("report_bytes"); err != nil {
			return nil, err
		}
	}
	m.perform("open")
	if r.Params.Has("waits") {
		PuppetOpens <- struct{}{}
		<-PuppetOpens
	}
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
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m puppet) NewAggregator() fl.Aggregator { return &puppetAggregator{puppet: m} }

type puppetAggregator struct {
	puppet
	reports int64
	decoded int // calls of Estimate
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
			a.reports += int64(i) // halfway, which it must not
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

// Estimate returns the columns of the round. Every value is the number of calls.
func (a *puppetAggregator) Estimate() (*fl.Estimate, error) {
	a.perform("estimate")
	if a.fails == "estimate" {
		return nil, fl.Invalid("dim", puppetSecret, "must please the puppet")
	}
	a.decoded++
	series := func() fl.Series {
		s := fl.Series{Value: make([]float64, a.round.Dim), StdErr: make([]float64, a.round.Dim)}
		for j := range s.Value {
			s.Value[j] = float64(a.decoded)
		}
		return s
	}
	e := fl.NewEstimate(a.round, a.Guarantee(), a.reports, series())
	for _, name := range a.round.Columns {
		e.Columns = append(e.Columns, fl.Column{Name: name, Series: series()})
	}
	if a.returns != "" {
		e = PuppetEstimates[a.returns](e)
	}
	return e, nil
}

// PuppetEstimates spoil the estimate of a round that asks for one column.
var PuppetEstimates = map[string]func(*fl.Estimate) *fl.Estimate{
	"no estimate":     func(*fl.Estimate) *fl.Estimate { return nil },
	"no columns":      func(e *fl.Estimate) *fl.Estimate { e.Columns = nil; return e },
	"the mean alone":  func(e *fl.Estimate) *fl.Estimate { e.Columns = e.Columns[:1]; return e },
	"no mean":         func(e *fl.Estimate) *fl.Estimate { e.Columns = e.Columns[1:]; return e },
	"the wrong order": func(e *fl.Estimate) *fl.Estimate { slices.Reverse(e.Columns); return e },
	"another name":    func(e *fl.Estimate) *fl.Estimate { e.Columns[1].Name = fl.ColumnMinus; return e },
	"one too many":    func(e *fl.Estimate) *fl.Estimate { e.Columns = append(e.Columns, e.Columns[1]); return e },
	"no values":       func(e *fl.Estimate) *fl.Estimate { e.Columns[1].Value = nil; return e },
	"a short mean":    func(e *fl.Estimate) *fl.Estimate { e.Columns[0].Value = e.Columns[0].Value[1:]; return e },
	"a long column": func(e *fl.Estimate) *fl.Estimate {
		e.Columns[1].Value = append(e.Columns[1].Value, 0)
		return e
	},
	"short errors":       func(e *fl.Estimate) *fl.Estimate { e.Columns[1].StdErr = e.Columns[1].StdErr[1:]; return e },
	"errors of length 0": func(e *fl.Estimate) *fl.Estimate { e.Columns[1].StdErr = []float64{}; return e },
	"negative noise":     func(e *fl.Estimate) *fl.Estimate { e.NoiseNorm = -1; return e },
	"errors of the mean": func(e *fl.Estimate) *fl.Estimate { e.Columns[0].StdErr = append(e.Columns[0].StdErr, 1); return e },
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
