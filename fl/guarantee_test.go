package fl

import (
	"errors"
	"math"
	"testing"
)

func TestPolicyRefusesWeakerGuarantees(t *testing.T) {
	round, halves := Round{MinReports: 100}, Round{Mechanism: "halves", MinReports: 100}
	strict := Policy{MaxEpsilon: 2, MaxDelta: 1e-6, MinReports: 100}
	good := Guarantee{Trust: Local, Epsilon: 2, Relation: ReplaceOne}
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
		"epsilon":              {strict, Guarantee{Trust: Local, Epsilon: 2.0001, Relation: ReplaceOne}, round, "epsilon"},
		"NaN epsilon":          {strict, Guarantee{Trust: Local, Epsilon: math.NaN(), Relation: ReplaceOne}, round, "epsilon"},
		"delta":                {strict, Guarantee{Trust: Local, Epsilon: 1, Delta: 1e-5, Relation: ReplaceOne}, round, "delta"},
		"zero-out":             {strict, Guarantee{Trust: Local, Epsilon: 1, Relation: ZeroOut}, round, "relation"},
		"no privacy":           {strict, Guarantee{Trust: NoPrivacy, Relation: ReplaceOne}, round, "trust"},
		"no privacy, finite":   {Policy{MaxEpsilon: math.MaxFloat64}, Guarantee{Trust: NoPrivacy}, round, "trust"},
		"unknown trust":        {strict, Guarantee{Trust: 9, Epsilon: 1, Relation: ReplaceOne}, round, "trust"},
		"untrusted shuffler":   {strict, Guarantee{Trust: Shuffle, Epsilon: 1, Relation: ReplaceOne}, round, "trust"},
		"mechanism":            {Policy{MaxEpsilon: 2, Mechanisms: []string{"coco"}}, good, round, "mechanism"},
		"dim":                  {Policy{MaxEpsilon: 2, MaxDim: 9}, good, Round{Mechanism: "coco", MinReports: 100, Dim: 10}, "dim"},
		"dim by default":       {Policy{MaxEpsilon: 2}, good, Round{Mechanism: "coco", MinReports: 100, Dim: DefaultMaxDim + 1}, "dim"},
		"no mechanism":         {Policy{MaxEpsilon: 2, Mechanisms: []string{}}, good, round, "mechanism"},
		"other features":       {Policy{MaxEpsilon: 2, Features: "edges:00"}, good, Round{Mechanism: "coco", MinReports: 100, Features: "edges:01"}, "features"},
		"features unsaid":      {Policy{MaxEpsilon: 2, Features: "edges:00"}, good, round, "features"},
		"unknown relation":     {Policy{MaxEpsilon: 2, Relation: ZeroOut}, Guarantee{Trust: Local, Epsilon: 1}, round, "relation"},
		"two servers":          {trusted(strict), Guarantee{Trust: TwoServers, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne}, halves, "mechanism"},
		"two servers, another": {named(strict, "coco"), Guarantee{Trust: TwoServers, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne}, halves, "mechanism"},
		"real numbers":         {strict, Guarantee{Trust: Local, Epsilon: 1, Relation: ReplaceOne, RealNumbers: true}, round, "real_numbers"},
		"real numbers, any ε":  {Policy{MaxEpsilon: math.Inf(1)}, Guarantee{Trust: Local, Epsilon: 1, Relation: ReplaceOne, RealNumbers: true}, round, "real_numbers"},
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
	if err := trusting.Check(round, Guarantee{Trust: Shuffle, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne}); err != nil {
		t.Errorf("a trusted shuffler: %v", err)
	}
	if err := named(strict, "coco", "halves").Check(halves, Guarantee{Trust: TwoServers, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne}); err != nil {
		t.Errorf("two servers, asked for by the mechanism's name: %v", err)
	}
	for _, wanted := range []string{"", "edges:01"} {
		p := strict
		p.Features = wanted
		if err := p.Check(Round{Mechanism: "coco", MinReports: 100, Features: "edges:01"}, good); err != nil {
			t.Errorf("features edges:01 for a client that wants %q: %v", wanted, err)
		}
	}
	lenient := Policy{MaxEpsilon: 2, Relation: ZeroOut, Mechanisms: []string{"collision", "coco"}}
	for _, relation := range []Relation{ReplaceOne, ZeroOut} {
		if err := lenient.Check(Round{Mechanism: "coco"}, Guarantee{Trust: Local, Epsilon: 1, Relation: relation}); err != nil {
			t.Errorf("a client that accepts zero-out and coco, under %v: %v", relation, err)
		}
	}
	comparing := strict
	comparing.AcceptRealNumbers = true
	for _, real := range []bool{true, false} {
		if err := comparing.Check(round, Guarantee{Trust: Local, Epsilon: 1, Relation: ReplaceOne, RealNumbers: real}); err != nil {
			t.Errorf("a client that accepts a proof for real numbers: %v", err)
		}
	}
	anything := Policy{MaxEpsilon: math.Inf(1)}
	if err := anything.Check(round, Guarantee{Trust: NoPrivacy, Epsilon: math.Inf(1), Relation: ReplaceOne}); err != nil {
		t.Errorf("a client that wants no privacy: %v", err)
	}
}

// trusted is p with trust in a shuffler, which is no trust in two servers.
func trusted(p Policy) Policy {
	p.TrustShuffler = true
	return p
}

func named(p Policy, mechanisms ...string) Policy {
	p.Mechanisms = mechanisms
	return p
}

func TestPoliciesLookAtEverything(t *testing.T) {
	trusting := Policy{MaxEpsilon: 2, MaxDelta: 1e-6, TrustShuffler: true}
	for name, c := range map[string]struct {
		g     Guarantee
		param string
	}{
		"zero-out in the shuffle model": {Guarantee{Trust: Shuffle, Epsilon: 1, Delta: 1e-6, Relation: ZeroOut}, "relation"},
		"NaN delta":                     {Guarantee{Trust: Shuffle, Epsilon: 1, Delta: math.NaN(), Relation: ReplaceOne}, "delta"},
		"NaN delta, local":              {Guarantee{Trust: Local, Epsilon: 1, Delta: math.NaN(), Relation: ReplaceOne}, "delta"},
		"delta in the shuffle model":    {Guarantee{Trust: Shuffle, Epsilon: 1, Delta: 1e-5, Relation: ReplaceOne}, "delta"},
		"epsilon in the shuffle model":  {Guarantee{Trust: Shuffle, Epsilon: 3, Relation: ReplaceOne}, "epsilon"},
		"trust 0":                       {Guarantee{Epsilon: 1, Relation: ReplaceOne}, "trust"},
	} {
		err := trusting.Check(Round{MinReports: 1}, c.g)
		var p *ParamError
		if !errors.Is(err, ErrPolicy) || !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("%s: error %v, want ErrPolicy naming %s", name, err, c.param)
		}
	}
}

func TestGuaranteesAreSpelledOut(t *testing.T) {
	for want, g := range map[string]Guarantee{
		"no privacy": {Trust: NoPrivacy, Epsilon: math.Inf(1)},
		"(ε=1, δ=0)-DP, local model, replace-one":                                                   {Trust: Local, Epsilon: 1, Relation: ReplaceOne},
		"(ε=1, δ=1e-06)-DP, two-servers model, against either server alone, replace-one":            {Trust: TwoServers, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne},
		"(ε=1, δ=1e-06)-DP, shuffle model, zero-out":                                                {Trust: Shuffle, Epsilon: 1, Delta: 1e-6, Relation: ZeroOut},
		"(ε=1, δ=0)-DP, local model, replace-one, for real numbers only: the code does not keep it": {Trust: Local, Epsilon: 1, Relation: ReplaceOne, RealNumbers: true},
	} {
		if got := g.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
