package fl

import (
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"testing"
)

// amplified is a local mechanism of ε = 5 whose bound on shuffling, −log10(δ)/10, is counted.
type amplified struct {
	Mechanism
	bounds *int
}

func (amplified) Guarantee() Guarantee {
	return Guarantee{Trust: Local, Epsilon: 5, Relation: ReplaceOne}
}
func (m amplified) Shuffled() Amplification { return m }
func (m amplified) Epsilon(_ int, delta float64) (float64, error) {
	*m.bounds++
	return -math.Log10(delta) / 10, nil
}
func (amplified) Delta(int, float64) (float64, error) { return 0, errors.New("not asked for") }

// A bound is computed once for a round and a δ, and holds for no other.
func TestABoundIsRememberedForItsRoundAndDelta(t *testing.T) {
	bounds := 0
	m := amplified{bounds: &bounds}
	var a Accepter
	policy, round, _, _ := pinning()
	round.ID, round.Scale, round.Epsilon, round.Relation, round.PublicSeed = "r", 1, 5, ReplaceOne, [32]byte{1}
	for i, c := range []struct {
		id     string
		delta  float64
		want   float64
		bounds int
	}{{"r", 1e-6, 0.6, 1}, {"r", 1e-6, 0.6, 1}, {"r", 1e-9, 0.9, 2}, {"s", 1e-6, 0.6, 3}, {"r", 1e-6, 0.6, 3}} {
		p, r := policy, round
		pins := *policy.Shuffled
		r.ID, pins.MaxDelta, p.Shuffled = c.id, c.delta, &pins
		terms, err := a.Accept(p, r, m)
		if err != nil || math.Abs(terms.Central.Epsilon-c.want) > 1e-12 || terms.Central.Delta != c.delta || bounds != c.bounds {
			t.Errorf("%d: %+v after %d bounds, %v, want ε = %g after %d", i, terms.Central, bounds, err, c.want, c.bounds)
		}
	}
	pins := *policy.Shuffled
	pins.MaxEpsilon, policy.Shuffled = 0.5, &pins
	if _, err := a.Accept(policy, round, m); !errors.Is(err, ErrPolicy) {
		t.Errorf("a central ε of 0.6 for one of at most 0.5: %v", err)
	}
}

// Where the pins do not fit, the error says which, beside what the report by itself lacks.
func TestARefusalNamesThePinThatDoesNotFit(t *testing.T) {
	policy, round, _, _ := pinning()
	round.ID, round.Scale, round.Epsilon, round.Relation, round.PublicSeed = "r", 1, 5, ReplaceOne, [32]byte{1}
	var a Accepter
	var first *ParamError
	for pin, change := range map[string]func(){
		"shuffler": func() { round.Shuffler = "another" },
		"seal_key": func() { round.SealKey = []byte("another") },
	} {
		kept := round
		change()
		_, err := a.Accept(policy, round, amplified{bounds: new(int)})
		if !errors.Is(err, ErrPolicy) || !errors.As(err, &first) || first.Param != pin || !strings.Contains(err.Error(), "; of the report alone: fl: refused by the client's policy: epsilon: got 5") {
			t.Errorf("%s: %v", pin, err)
		}
		round = kept
	}
	round.Shuffler = ""
	if _, err := a.Accept(policy, round, amplified{bounds: new(int)}); !errors.Is(err, ErrPolicy) || !strings.HasPrefix(err.Error(), `fl: refused by the client's policy: shuffler: got "", rule: must be one that the policy pins: "b.example, a.example"; of the report alone: `) {
		t.Errorf("without a shuffler: %v", err)
	}
	policy.MaxEpsilon = 0
	if _, err := a.Accept(policy, round, amplified{bounds: new(int)}); !errors.Is(err, ErrPolicy) || strings.Contains(err.Error(), "alone") {
		t.Errorf("a client that takes no report alone: %v", err)
	}
}

// noised is a mechanism for two servers with ε = 1 whose clients add noise for ε = 5.
type noised struct{ SharedMechanism }

func (noised) Guarantee() Guarantee {
	return Guarantee{Trust: TwoServers, Epsilon: 1, Delta: 1e-6, Relation: ReplaceOne}
}

func (noised) OwnGuarantee() (Guarantee, bool) {
	return Guarantee{Trust: Local, Epsilon: 5, Delta: 1e-6, Relation: ReplaceOne}, true
}

// A client that accepts the own noise needs no pins, and the servers' guarantee is told only with them. A client that does not
// accept it needs pins for two servers.
func TestOwnNoiseIsAcceptedByItself(t *testing.T) {
	pinned, round, _, _ := pinning()
	round.ID, round.Mechanism, round.ShareKey = "r", "noised", []byte("key")
	pinned.Mechanisms, pinned.MaxDelta = []string{"noised"}, 1e-6
	pins := *pinned.Shuffled
	pins.ShareKeys, pinned.Shuffled = [][32]byte{sha256.Sum256(round.ShareKey)}, &pins
	bare := pinned
	bare.Shuffled = nil
	shared, own := noised{}.Guarantee(), func() Guarantee { g, _ := noised{}.OwnGuarantee(); return g }()
	for i, c := range []struct {
		policy  Policy
		most    float64
		central Guarantee
		refused bool
	}{{bare, 5, Guarantee{}, false}, {bare, 4.9, Guarantee{}, true}, {pinned, 5, shared, false}, {pinned, 1, shared, false}, {pinned, 0.9, Guarantee{}, true}} {
		c.policy.MaxEpsilon = c.most
		terms, err := new(Accepter).Accept(c.policy, round, noised{})
		if c.refused && !errors.Is(err, ErrPolicy) || !c.refused && (err != nil || terms.Guarantee != own || terms.Central != c.central) {
			t.Errorf("%d: %+v, %v", i, terms, err)
		}
	}
}
