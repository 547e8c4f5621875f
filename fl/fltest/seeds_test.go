package fltest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// seeding is coco with the methods of fl.SeededMechanism replaced.
type seeding struct {
	fl.SparseMechanism
	assign func(m fl.SeededMechanism, seed uint32) fl.Mechanism
	read   func(m fl.SeededMechanism, report []byte) (uint32, error)
}

func (s seeding) WithSeed(seed uint32) fl.Mechanism {
	return s.assign(s.SparseMechanism.(fl.SeededMechanism), seed)
}

func (s seeding) SeedOf(report []byte) (uint32, error) {
	return s.read(s.SparseMechanism.(fl.SeededMechanism), report)
}

func (s seeding) Open(r fl.Round) (fl.Mechanism, error) {
	r.Mechanism = coco.Name
	m, err := coco.Scheme.Open(r)
	if err != nil {
		return nil, err
	}
	s.SparseMechanism = m.(fl.SparseMechanism)
	return s, nil
}

// half assigns seeds to gradients alone.
type half struct {
	fl.SparseMechanism
	assigned fl.Mechanism
}

func (h half) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return h.assigned.Encode(dst, grad, rng)
}

func TestFaultsOfSeedsAreFound(t *testing.T) {
	good := seeding{assign: fl.SeededMechanism.WithSeed, read: fl.SeededMechanism.SeedOf}
	assigns := func(assign func(m fl.SeededMechanism, seed uint32) fl.Mechanism) seeding {
		return seeding{assign: assign, read: good.read}
	}
	faults := map[string]struct {
		fault seeding
		says  string
	}{
		"none":                  {good, ""},
		"assigns no seed":       {assigns(func(m fl.SeededMechanism, _ uint32) fl.Mechanism { return m }), "Encode: the seed"},
		"assigns the next seed": {assigns(func(m fl.SeededMechanism, seed uint32) fl.Mechanism { return m.WithSeed(seed + 1) }), "Encode: the seed 1, want 0"},
		"forgets a method": {assigns(func(m fl.SeededMechanism, seed uint32) fl.Mechanism {
			return struct{ fl.Mechanism }{m.WithSeed(seed)}
		}), "no EncodeTernary"},
		"assigns to some methods": {assigns(func(m fl.SeededMechanism, seed uint32) fl.Mechanism {
			return half{m.(fl.SparseMechanism), m.WithSeed(seed)}
		}), "EncodeTernary: the seed"},
		"reads a seed in nothing": {seeding{assign: good.assign, read: func(m fl.SeededMechanism, report []byte) (uint32, error) {
			if report == nil {
				return 0, nil
			}
			return m.SeedOf(report)
		}}, "SeedOf 0 bytes"},
	}
	for name, c := range faults {
		r := round(fmt.Sprintf("seeding-%d", len(fl.Mechanisms())))
		fl.Register(r.Mechanism, c.fault)
		r.Columns, r.Params = nil, fl.Params{"sparsity": fl.Int(4), "slots": fl.Int(64), "hash": fl.Text("gf2")}
		found := fmt.Sprint(fltest.Mechanism(r, fltest.Options{})) // other parts miss the name of the mechanism in estimates
		if strings.Contains(found, "fltest: seeds: ") != (c.says != "") || !strings.Contains(found, c.says) {
			t.Errorf("%s: %s, want an error of the part seeds that says %q", name, found, c.says)
		}
	}
}
