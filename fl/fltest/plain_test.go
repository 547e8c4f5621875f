package fltest_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// plain is the toy without optional interfaces, under another guarantee.
type plain struct {
	fl.Mechanism
	guarantee fl.Guarantee
	round     fl.Round
	change    func(e *fl.Estimate)
}

func (m plain) Guarantee() fl.Guarantee { return m.guarantee }

func (m plain) NewAggregator() fl.Aggregator { return &plainAggregator{m.Mechanism.NewAggregator(), m} }

type plainAggregator struct {
	fl.Aggregator
	mechanism plain
}

func (a *plainAggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*plainAggregator)
	if !ok {
		return errors.New("plain: merge: another mechanism")
	}
	return a.Aggregator.Merge(o.Aggregator)
}

func (a *plainAggregator) Estimate() (*fl.Estimate, error) {
	e, err := a.Aggregator.Estimate()
	if err != nil {
		return nil, err
	}
	e.Guarantee, e.Tiers = a.mechanism.guarantee, nil
	a.mechanism.change(e)
	return e, nil
}

type plainFactory struct {
	guarantee fl.Guarantee
	change    func(e *fl.Estimate)
}

func (plainFactory) Columns() []string { return []string{fl.ColumnConditional} }

func (f plainFactory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := r.Params.Only(); err != nil {
		return nil, err
	}
	inside := r
	inside.Epsilon = min(r.Epsilon, 4)
	m, err := newToy(inside)
	return plain{m, f.guarantee, r, f.change}, err
}

// register registers a mechanism under a new name.
func register(f fl.Factory) string {
	name := fmt.Sprintf("plain-%d", len(fl.Mechanisms()))
	fl.Register(name, f)
	return name
}

var local = fl.Guarantee{Trust: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}

func TestMechanismsNeedNoOptionalInterface(t *testing.T) {
	for _, c := range []struct {
		guarantee fl.Guarantee
		change    func(r *fl.Round)
	}{
		{local, func(*fl.Round) {}},
		{fl.Guarantee{Trust: fl.Shuffle, Epsilon: 2, Delta: 1e-6, Relation: fl.ZeroOut}, func(r *fl.Round) { r.Delta, r.Relation = 1e-6, fl.ZeroOut }},
		{fl.Guarantee{Trust: fl.NoPrivacy, Epsilon: math.Inf(1)}, func(r *fl.Round) { r.Epsilon = math.Inf(1) }},
	} {
		r := round(register(plainFactory{c.guarantee, func(*fl.Estimate) {}}))
		r.Columns = nil
		c.change(&r)
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("%v: %v", c.guarantee, err)
		}
	}
}

// What these faults are about the toy with tiers cannot show.
func TestFaultsOfPlainMechanismsAreFound(t *testing.T) {
	conditional := func(v, stdErr []float64) func(e *fl.Estimate) {
		return func(e *fl.Estimate) {
			e.Columns = append(e.Columns[:1:1], fl.Column{Name: fl.ColumnConditional, Series: fl.Series{Value: v, StdErr: stdErr}})
		}
	}
	numbers := func(v float64) []float64 { return append(make([]float64, 19), v) }
	for _, c := range []struct {
		columns []string
		change  func(e *fl.Estimate)
		says    string
	}{
		{[]string{fl.ColumnConditional}, conditional(numbers(-0.5), nil), ""},
		{[]string{fl.ColumnConditional}, conditional(numbers(-0.51), nil), `estimate: column "conditional"`},
		{[]string{fl.ColumnConditional}, conditional(numbers(0), numbers(0)), `estimate: column "conditional"`},
		{nil, func(e *fl.Estimate) { e.Guarantee.Epsilon = 1 }, "estimate: guarantee"},
		{nil, func(e *fl.Estimate) { e.Tiers = []fl.TierEstimate{{}} }, "estimate: guarantee"},
	} {
		r := round(register(plainFactory{local, func(e *fl.Estimate) { e.Columns = e.Columns[:1]; c.change(e) }}))
		r.Columns = c.columns
		switch err := fltest.Mechanism(r, fltest.Options{}); {
		case c.says == "" && err != nil:
			t.Error(err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), "fltest: "+c.says)):
			t.Errorf("found as %v, want an error that says %q", err, c.says)
		}
	}
}

// Some promises break the contract only in rounds that the toy does not take.
func TestFaultsOfGuaranteesAreFound(t *testing.T) {
	for _, c := range []struct {
		guarantee fl.Guarantee
		change    func(r *fl.Round)
		says      string
	}{
		{fl.Guarantee{Trust: fl.Local, Epsilon: math.Inf(1), Relation: fl.ReplaceOne}, func(r *fl.Round) { r.Epsilon = math.Inf(1) }, "epsilon"},
		{fl.Guarantee{Trust: fl.Local, Epsilon: 2, Relation: fl.ZeroOut}, func(r *fl.Round) { r.Relation = fl.ZeroOut }, "local privacy is always replace-one"},
		{fl.Guarantee{Trust: fl.Shuffle, Epsilon: 2, Relation: 7}, func(r *fl.Round) { r.Relation = fl.ZeroOut }, "relation"},
	} {
		r := round(register(plainFactory{c.guarantee, func(*fl.Estimate) {}}))
		r.Columns = nil
		c.change(&r)
		if err := fltest.Mechanism(r, fltest.Options{}); err == nil || !strings.Contains(err.Error(), "fltest: guarantee: ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: found as %v, want an error of the guarantee that says %q", c.guarantee, err, c.says)
		}
	}
}
