package fl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// sum is the smallest mechanism there is: a report is one byte.
type sum struct {
	weight         int
	total, reports int64
}

func (*sum) Encode(dst []byte, grad []float64, _ *rand.Rand) ([]byte, error) {
	return append(dst, byte(grad[0])), nil
}
func (*sum) NewAggregator() Aggregator { return &sum{} }
func (*sum) Guarantee() Guarantee      { return Guarantee{Trust: NoPrivacy} }
func (s *sum) Add(report []byte) error {
	if len(report) != 1 {
		return fmt.Errorf("sum: %w", ErrBadReport)
	}
	s.total += int64(report[0])
	s.reports++
	return nil
}
func (s *sum) Merge(o Aggregator) error {
	s.total += o.(*sum).total
	s.reports += o.(*sum).reports
	return nil
}
func (s *sum) Estimate() (*Estimate, error)   { return &Estimate{Reports: s.reports}, nil }
func (s *sum) MarshalBinary() ([]byte, error) { return binary.AppendVarint(nil, s.total), nil }
func (s *sum) UnmarshalBinary(b []byte) error { s.total, _ = binary.Varint(b); return nil }

type sumFactory struct{}

func (sumFactory) Open(r Round) (Mechanism, error) {
	weight, err := r.Params.Int("weight")
	if err != nil {
		return nil, err
	}
	return &sum{weight: weight}, nil
}

func (sumFactory) Complete(r Round) (Round, error) {
	r.Params = r.Params.With("weight", Int(7))
	return r, nil
}

func TestRegistry(t *testing.T) {
	once := unusedName()
	Register(once, sumFactory{})
	twice := unusedName()
	Register(twice, sumFactory{})
	Register(twice, sumFactory{})
	if !slices.Contains(Mechanisms(), once) {
		t.Errorf("Mechanisms() = %v", Mechanisms())
	}
	r := fullRound()
	r.Relation = 0
	for _, name := range []string{"test-none", twice} {
		r.Mechanism = name
		var p *ParamError
		if _, _, err := Complete(r); !errors.As(err, &p) || p.Param != "mechanism" {
			t.Errorf("%s: error %v, want one about the mechanism", name, err)
		}
	}
	r.Mechanism = once
	done, m, err := Complete(r)
	if err != nil || done.Params["weight"] != Int(7) || done.Relation != ReplaceOne {
		t.Errorf("Complete gave %+v, %v", done, err)
	}
	if s, ok := m.(*sum); !ok || s.weight != 7 {
		t.Errorf("Complete gave the mechanism %+v, want the completed round's", m)
	}
	if r.Params.Has("weight") {
		t.Error("Complete changed its argument")
	}
	if _, err := Open(done); err != nil {
		t.Error(err)
	}
	if _, err := Open(fullRoundOf(once)); err == nil {
		t.Error("opened a round without its parameter")
	}
}

func fullRoundOf(mechanism string) Round {
	r := fullRound()
	r.Mechanism = mechanism
	return r
}

// wary complains when it sees a round that Validate refuses, and completes a
// round to what its own Open, or Validate, refuses on request.
type wary struct {
	t        *testing.T
	complete func(*Round)
}

func (w wary) look(r Round) {
	w.t.Helper()
	if err := r.Validate(); err != nil {
		w.t.Errorf("the factory sees a round that breaks a rule: %v", err)
	}
}

func (w wary) Open(r Round) (Mechanism, error) {
	w.look(r)
	slots, err := r.Params.Int("slots")
	if err != nil {
		return nil, err
	}
	if slots < 4 {
		return nil, Invalid("slots", slots, "must be at least 4")
	}
	return &sum{}, nil
}

func (w wary) Complete(r Round) (Round, error) {
	w.look(r)
	w.complete(&r)
	return r, nil
}

// unusedName returns a name that no mechanism has, also when a test runs twice.
func unusedName() string { return fmt.Sprintf("test-%d", len(Mechanisms())) }

func TestFactoriesSeeOnlyValidRounds(t *testing.T) {
	name := unusedName()
	Register(name, wary{t: t, complete: func(*Round) {}})
	if _, err := Open(fullRoundOf(name)); err != nil {
		t.Errorf("a good round: %v", err)
	}
	for param, mutate := range map[string]func(*Round){
		"epsilon": func(r *Round) { r.Epsilon = math.NaN() }, "dim": func(r *Round) { r.Dim = 0 },
		"public_seed": func(r *Round) { r.PublicSeed = [32]byte{} },
	} {
		r := fullRoundOf(name)
		mutate(&r)
		var p *ParamError
		if _, err := Open(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("Open: error %v, want a ParamError for %s", err, param)
		}
		if _, _, err := Complete(r); !errors.As(err, &p) || p.Param != param {
			t.Errorf("Complete: error %v, want a ParamError for %s", err, param)
		}
	}
}

func TestCompleteChecksItsResult(t *testing.T) {
	var complete func(*Round)
	name := unusedName()
	Register(name, wary{t: t, complete: func(r *Round) { complete(r) }})
	for param, c := range map[string]func(*Round){
		"slots": func(r *Round) { r.Params = r.Params.With("slots", Int(3)) },
		"scale": func(r *Round) { r.Scale = 0 },
	} {
		complete = c
		var p *ParamError
		if r, m, err := Complete(fullRoundOf(name)); !errors.As(err, &p) || p.Param != param || m != nil {
			t.Errorf("completed to %+v with %v, %v, want a ParamError for %s", r, m, err, param)
		}
	}
	complete = func(r *Round) { r.Params = r.Params.With("slots", Int(4)) }
	if r, _, err := Complete(fullRoundOf(name)); err != nil || r.Params["slots"] != Int(4) {
		t.Errorf("completed to %+v, %v, want 4 slots", r, err)
	}
}

// shares estimates two columns beside the mean.
type shares struct{ sumFactory }

func (shares) Columns() []string { return []string{ColumnPlus, ColumnMinus} }

func TestOnlyColumnsOnOfferAreOpened(t *testing.T) {
	offers := unusedName()
	Register(offers, shares{})
	meanOnly := unusedName()
	Register(meanOnly, sumFactory{})
	twice := unusedName()
	Register(twice, shares{})
	Register(twice, shares{})
	for name, want := range map[string][]string{offers: {ColumnPlus, ColumnMinus}, meanOnly: nil, twice: nil, "test-none": nil} {
		if got := Columns(name); !slices.Equal(got, want) {
			t.Errorf("Columns(%q) = %q, want %q", name, got, want)
		}
	}
	for _, c := range []struct {
		mechanism string
		columns   []string
		refused   string // the column that the error names, or none
	}{
		{offers, nil, ""}, {offers, []string{ColumnMinus, ColumnPlus}, ""}, {meanOnly, nil, ""},
		{offers, []string{ColumnPlus, ColumnFrequency}, ColumnFrequency}, {meanOnly, []string{ColumnPlus}, ColumnPlus},
	} {
		r := fullRoundOf(c.mechanism)
		r.Columns = c.columns
		done, _, completed := Complete(r)
		r.Params = r.Params.With("weight", Int(1))
		_, opened := Open(r)
		for function, err := range map[string]error{"Open": opened, "Complete": completed} {
			var p *ParamError
			switch {
			case c.refused == "" && err != nil:
				t.Errorf("%s with columns %q: %v", function, c.columns, err)
			case c.refused != "" && (!errors.As(err, &p) || p.Param != "columns" || p.Got != strconv.Quote(c.refused)):
				t.Errorf("%s with columns %q: error %v, want a ParamError for columns that got %q", function, c.columns, err, c.refused)
			}
		}
		if c.refused == "" && !slices.Equal(done.Columns, c.columns) {
			t.Errorf("columns %q were completed to %q", c.columns, done.Columns)
		}
	}
}
