package fl

import (
	"errors"
	"math"
	"testing"
)

func TestPolicyRefusesWeakerGuarantees(t *testing.T) {
	round := Round{MinReports: 100}
	strict := Policy{MaxEpsilon: 2, MaxDelta: 1e-6, MinReports: 100}
	good := Guarantee{Model: Local, Epsilon: 2, Relation: ReplaceOne}
	if err := strict.Check(round, good); err != nil {
		t.Errorf("a guarantee that meets the policy: %v", err)
	}
	for name, c := range map[string]struct {
		policy Policy
		g      Guarantee
		round  Round
		param  string
	}{
		"zero policy":          {Policy{}, good, round, "epsilon"},
		"epsilon":              {strict, Guarantee{Model: Local, Epsilon: 2.0001, Relation: ReplaceOne}, round, "epsilon"},
		"NaN epsilon":          {strict, Guarantee{Model: Local, Epsilon: math.NaN(), Relation: ReplaceOne}, round, "epsilon"},
		"delta":                {strict, Guarantee{Model: Local, Epsilon: 1, Delta: 1e-5, Relation: ReplaceOne}, round, "delta"},
		"zero-out":             {strict, Guarantee{Model: Local, Epsilon: 1, Relation: ZeroOut}, round, "relation"},
		"no privacy":           {strict, Guarantee{Model: NoPrivacy, Relation: ReplaceOne}, round, "model"},
		"no privacy, finite":   {Policy{MaxEpsilon: math.MaxFloat64}, Guarantee{Model: NoPrivacy}, round, "model"},
		"unknown model":        {strict, Guarantee{Model: 9, Epsilon: 1, Relation: ReplaceOne}, round, "model"},
		"untrusted shuffler":   {strict, Guarantee{Model: Shuffle, Epsilon: 1, Relation: ReplaceOne}, round, "model"},
		"mechanism":            {Policy{MaxEpsilon: 2, Mechanisms: []string{"coco"}}, good, round, "mechanism"},
		"no mechanism":         {Policy{MaxEpsilon: 2, Mechanisms: []string{}}, good, round, "mechanism"},
		"unknown relation":     {Policy{MaxEpsilon: 2, Relation: ZeroOut}, Guarantee{Model: Local, Epsilon: 1}, round, "relation"},
		"too few participants": {strict, good, Round{MinReports: 99}, "min_reports"},
	} {
		err := c.policy.Check(c.round, c.g)
		var p *ParamError
		if !errors.Is(err, ErrPolicy) || !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want ErrPolicy naming %s", name, err, c.param)
		}
	}
	trusting := strict
	trusting.TrustShuffler = true
	if err := trusting.Check(round, Guarantee{Model: Shuffle, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne}); err != nil {
		t.Errorf("a trusted shuffler: %v", err)
	}
	lenient := Policy{MaxEpsilon: 2, Relation: ZeroOut, Mechanisms: []string{"collision", "coco"}}
	for _, relation := range []Relation{ReplaceOne, ZeroOut} {
		if err := lenient.Check(Round{Mechanism: "coco"}, Guarantee{Model: Local, Epsilon: 1, Relation: relation}); err != nil {
			t.Errorf("a client that accepts zero-out and coco, under %v: %v", relation, err)
		}
	}
	anything := Policy{MaxEpsilon: math.Inf(1)}
	if err := anything.Check(round, Guarantee{Model: NoPrivacy, Epsilon: math.Inf(1), Relation: ReplaceOne}); err != nil {
		t.Errorf("a client that wants no privacy: %v", err)
	}
}
