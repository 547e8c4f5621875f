package fltest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

func (s *suite) completeRoundStays() error {
	r, _, err := fl.Complete(s.round)
	if err != nil {
		return fmt.Errorf("fl.Complete of a complete round: %w", err)
	}
	if !r.Equal(s.round) {
		return fmt.Errorf("fl.Complete made of the complete round %+v another one, %+v", s.round, r)
	}
	return nil
}

// unknownParameterIsRefused: a party that ignores a part of a round may promise something
// else than another party reads in it.
func (s *suite) unknownParameterIsRefused() error {
	const unknown = "fltest-unknown"
	r := s.round
	r.Params = r.Params.With(unknown, fl.Int(1))
	_, err := fl.Open(r)
	if _, ok := errors.AsType[*fl.ParamError](err); !ok {
		return fmt.Errorf("with the parameter %q: error %v, want a *fl.ParamError, see fl.Params.Only", unknown, err)
	}
	return nil
}

func (s *suite) guaranteeIsWithinTheRound() error {
	g := s.mechanism.Guarantee()
	if err := s.promise(g); err != nil {
		return err
	}
	if again := s.mechanism.Guarantee(); again != g {
		return fmt.Errorf("is %v and then %v", g, again)
	}
	if again := s.reopened().Guarantee(); again != g {
		return fmt.Errorf("is %v, and %v in another process", g, again)
	}
	return nil
}

// promise checks one guarantee against the round.
func (s *suite) promise(g fl.Guarantee) error {
	r := s.round
	switch {
	case !g.Trust.Known():
		return fmt.Errorf("trust is %v, want one that fl knows", g.Trust)
	case g.Trust == fl.NoPrivacy && !math.IsInf(g.Epsilon, 1):
		return fmt.Errorf("epsilon is %g without privacy, want +Inf", g.Epsilon)
	case g.Trust == fl.NoPrivacy && !math.IsInf(r.Epsilon, 1):
		return fmt.Errorf("there is no privacy, although the round's epsilon is %g", r.Epsilon)
	case g.Trust == fl.NoPrivacy:
		return nil
	case !(g.Epsilon >= 0 && g.Epsilon <= r.Epsilon) || math.IsInf(g.Epsilon, 1):
		return fmt.Errorf("epsilon is %g, want a finite one of at most the round's %g", g.Epsilon, r.Epsilon)
	case !(g.Delta >= 0 && g.Delta <= r.Delta):
		return fmt.Errorf("delta is %g, want at most the round's %g", g.Delta, r.Delta)
	case g.Relation != fl.ReplaceOne && (g.Trust == fl.Local || r.Relation == fl.ReplaceOne || g.Relation != fl.ZeroOut):
		return fmt.Errorf("relation is %v with %v trust, the round says %v and local privacy is always replace-one", g.Relation, g.Trust, r.Relation)
	}
	return nil
}

// slack is how far a bound that is computed may rise where the exact one falls.
const slack = 1 + 1e-6

func (s *suite) amplificationFalls(m fl.Amplifier) error {
	g := s.mechanism.Guarantee()
	if g.Trust != fl.Local {
		return fmt.Errorf("of a mechanism with %v trust, only local guarantees are amplified", g.Trust)
	}
	a := m.Shuffled()
	clients := []int{2, 10, 100, 10_000}
	if err := falls("Epsilon(%d, %g)", clients, []float64{1e-12, 1e-6, 1e-2}, a.Epsilon, g.Epsilon); err != nil {
		return err
	}
	return falls("Delta(%d, %g)", clients, []float64{0, g.Epsilon / 4, g.Epsilon / 2, g.Epsilon}, a.Delta, 1)
}

// falls checks that a bound is in [0, most] and falls with both arguments, which increase.
func falls(call string, clients []int, arguments []float64, bound func(n int, x float64) (float64, error), most float64) error {
	before := slices.Repeat([]float64{most}, len(arguments)) // for fewer clients
	for _, n := range clients {
		left := most
		for i, x := range arguments {
			v, err := bound(n, x)
			if err != nil {
				return fmt.Errorf(call+": %w", n, x, err)
			}
			if !(v >= 0 && v <= most && v <= before[i]*slack && v <= left*slack) {
				return fmt.Errorf(call+" = %g, want at least 0 and at most %g, %g for fewer clients and %g for a smaller argument", n, x, v, most, before[i], left)
			}
			before[i], left = v, v
		}
	}
	return nil
}

func (s *suite) amplificationRefuses(m fl.Amplifier) error {
	a := m.Shuffled()
	for _, c := range []struct {
		call  string
		bound func(n int, x float64) (float64, error)
		n     int
		x     float64
	}{
		{"Epsilon", a.Epsilon, 0, 0.5}, {"Epsilon", a.Epsilon, -1, 0.5}, {"Epsilon", a.Epsilon, 100, 0},
		{"Epsilon", a.Epsilon, 100, 1}, {"Epsilon", a.Epsilon, 100, -1}, {"Epsilon", a.Epsilon, 100, math.NaN()},
		{"Delta", a.Delta, 0, 0.5}, {"Delta", a.Delta, -1, 0.5}, {"Delta", a.Delta, 100, -1}, {"Delta", a.Delta, 100, math.NaN()},
	} {
		if v, err := c.bound(c.n, c.x); err == nil {
			return fmt.Errorf("%s(%d, %g) = %g, want an error", c.call, c.n, c.x, v)
		}
	}
	return nil
}

// costIsFinite checks that Cost is finite and positive, and that the mean length of the reports
// is at most twice the expected length plus 64 bytes.
func (s *suite) costIsFinite(m fl.Coster) error {
	c := m.Cost()
	for _, v := range []float64{c.Messages, c.Bytes} {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("%+v, want finite positive numbers", c)
		}
	}
	bytes := 0
	for _, report := range s.reports {
		bytes += len(report)
	}
	if mean := float64(bytes) / float64(len(s.reports)); mean > 2*c.Bytes+64 {
		return fmt.Errorf("reports have %.1f bytes on average, Cost says %.1f", mean, c.Bytes)
	}
	return nil
}

func (s *suite) adviceIsText(m fl.Adviser) error {
	for _, sentence := range m.Advice() {
		if sentence != strings.TrimSpace(sentence) || sentence == "" || strings.Contains(sentence, "\n") {
			return fmt.Errorf("%q, want one sentence on one line", sentence)
		}
	}
	return nil
}
