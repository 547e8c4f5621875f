package sparse_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

var long = flag.Bool("long", false, "measure more rounds, and rounds of many coordinates at every ε")

// slotted are the mechanisms whose number of slots is a parameter. objectives are the ways to choose it, step is
// how far apart the ideal hash family's numbers are.
var slotted = []struct {
	*sparse.Scheme
	step       int
	objectives []search
}{
	{coco.Scheme, 2, []search{
		{"the mean", coco.Scheme.BestSlots, coco.Scheme.MSE},
		{"the support", coco.Scheme.BestSlotsForFrequency, coco.Scheme.FrequencyMSE},
	}},
	{collision.Scheme, 1, []search{
		{"the mean", collision.Scheme.BestSlots, collision.Scheme.MSE},
		{"the items", collision.Scheme.BestSlotsForItems, collision.Scheme.ItemMSE},
	}},
}

// ε-LDP by exhaustion: with the real integer weights of several budgets, no two inputs give any slot with
// probabilities more than a factor e^ε (a rational lower bound of it) apart, under any hash function of the
// domain. CoCo's domains include items that share a pair, with equal and with opposite slots, dummies, and
// p = s = t/2, where no slot is left over. Collision's domains include items that share a slot, and dummies.
// SignSketch's domains include ties of the majority.
func TestLocalPrivacyByEnumeration(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and other tests have its goroutines")
	}
	for _, c := range []struct {
		scheme *sparse.Scheme
		domain
		oneBudget, slow bool
	}{
		{scheme: coco.Scheme, domain: domain{Dim: 2, Sparsity: 1, Slots: 2}},
		{scheme: coco.Scheme, domain: domain{Dim: 2, Sparsity: 1, Slots: 6}},
		{scheme: coco.Scheme, domain: domain{Dim: 2, Sparsity: 2, Slots: 4}},
		{scheme: coco.Scheme, domain: domain{Dim: 3, Sparsity: 2, Slots: 4}, oneBudget: true},
		{scheme: coco.Scheme, domain: domain{Dim: 2, Sparsity: 2, Slots: 6}, oneBudget: !*long},
		{scheme: coco.Scheme, domain: domain{Dim: 2, Sparsity: 3, Slots: 6}, oneBudget: true, slow: true},
		{scheme: collision.Scheme, domain: domain{Dim: 1, Sparsity: 1, Slots: 2}},
		{scheme: collision.Scheme, domain: domain{Dim: 2, Sparsity: 1, Slots: 3}},
		{scheme: collision.Scheme, domain: domain{Dim: 2, Sparsity: 2, Slots: 3}, oneBudget: !*long},
		{scheme: collision.Scheme, domain: domain{Dim: 2, Sparsity: 2, Slots: 4}, oneBudget: true, slow: true},
		{scheme: collision.Scheme, domain: domain{Dim: 1, Sparsity: 1, Slots: 7}, slow: true},
		{scheme: signsketch.Scheme, domain: domain{Dim: 2, Sparsity: 1, Slots: 2}},
		{scheme: signsketch.Scheme, domain: domain{Dim: 3, Sparsity: 2, Slots: 2}},
		{scheme: signsketch.Scheme, domain: domain{Dim: 3, Sparsity: 3, Slots: 2}},
		{scheme: signsketch.Scheme, domain: domain{Dim: 4, Sparsity: 4, Slots: 2}, oneBudget: !*long},
	} {
		if c.slow && !*long {
			continue
		}
		c.Keys = c.Dim + c.Sparsity
		if c.scheme == collision.Scheme {
			c.Keys = 2*c.Keys - 1 // dummies carry +, so the key of the last dummy's − is never hashed
		}
		for _, eps := range []float64{0.1, 1, 5} {
			if c.oneBudget && eps != 1 {
				continue
			}
			w, sampler := randomizer(t, c.scheme, c.Sparsity, c.Slots, eps)
			t.Run(c.scheme.Definition().Name, func(t *testing.T) { checkPrivacy(t, c.domain, eps, w, sampler) })
		}
	}
}

// randomizer returns a mechanism's integer weights and its sampler.
func randomizer(t *testing.T, scheme *sparse.Scheme, sparsity, slots int, epsilon float64) (exact.Weights, sparse.Sampler) {
	t.Helper()
	w, err := exact.NewWeights(epsilon, scheme.Likely(sparsity), slots)
	if err != nil {
		t.Fatal(err)
	}
	return w, scheme.Definition().NewSampler(w, sparsity, slots)
}

// The hit probabilities by enumeration: of an own item, of the one with the opposite sign, of both at once, and of
// the items of another coordinate. With t = 2s CoCo has no slot outside the marked pairs when no two items share one.
func TestCalibrationByEnumeration(t *testing.T) {
	for scheme, points := range map[*sparse.Scheme][]sparse.Point{
		coco.Scheme: {
			{Dim: 2, Sparsity: 1, Slots: 2}, {Dim: 2, Sparsity: 1, Slots: 6}, {Dim: 3, Sparsity: 2, Slots: 4},
			{Dim: 3, Sparsity: 2, Slots: 8}, {Dim: 4, Sparsity: 3, Slots: 6},
		},
		collision.Scheme: {
			{Dim: 2, Sparsity: 1, Slots: 2}, {Dim: 2, Sparsity: 1, Slots: 5}, {Dim: 3, Sparsity: 2, Slots: 3}, {Dim: 3, Sparsity: 2, Slots: 4},
		},
	} {
		for _, p := range points {
			for _, p.Epsilon = range []float64{0.1, 1, 5} {
				_, sampler := randomizer(t, scheme, p.Sparsity, p.Slots, p.Epsilon)
				checkCalibration(t, scheme, scheme.Definition().Layout, p, sampler)
			}
		}
	}
}

// The estimates of the real code against the exact errors, at the best number of slots for each of CoCo's objectives
// and for Collision's items. 94 cases, without -long 46, with 2 errors each and at most 100 coordinates: 9588 tests. Of the averages of
// 100 rounds Student's t with 99 degrees of freedom is beyond 6.95 with probability 4.0e-10: the tests fail by chance
// with probability below 4e-6. Tests of 400 rounds do so less often.
func TestErrorsAreTheExactOnes(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	const rounds = 400
	for _, m := range slotted {
		rng := rand.New(rand.NewChaCha8([32]byte{11}))
		objectives := m.objectives
		if m.Scheme == collision.Scheme {
			objectives = objectives[1:]
		}
		last := objectives[len(objectives)-1]
		for _, hash := range []string{sparse.HashGF2, sparse.HashIdeal} {
			at := func(s int, eps float64, o search, dummies int) {
				p := sparse.Point{Dim: 100, Sparsity: s, Epsilon: eps, Hash: hash}
				t.Run(fmt.Sprintf("%s/%s/s=%d/eps=%g/%d dummies/best for %s", m.Name(), hash, s, eps, dummies, o.name), func(t *testing.T) {
					var err error
					if p.Slots, err = o.best(p); err != nil {
						t.Fatal(err)
					}
					measureScheme(t, m.Scheme, p, dummies, rounds, 10, 6.95, rng)
				})
			}
			for _, s := range []int{1, 2, 8, 32, 64} {
				for _, eps := range []float64{0.1, 1, 5} {
					for _, o := range objectives {
						at(s, eps, o, 0)
					}
				}
			}
			at(8, 1, last, 3)
		}
	}
}

// SignSketch's estimates against the exact errors. 9 cases with at most 101 normal tests each at 6 standard errors:
// false-positive rate below 2e-6.
func TestSignSketchErrorsAreTheExactOnes(t *testing.T) {
	for _, s := range []int{1, 4, 9} {
		if s > 1 && !*long {
			break // a minute with the race detector
		}
		for _, eps := range []float64{0.1, 1, 5} {
			t.Run(fmt.Sprintf("s=%d/eps=%g", s, eps), func(t *testing.T) {
				rng := rand.New(rand.NewChaCha8([32]byte{41, byte(s)}))
				mse, err := signsketch.Scheme.MSE(sparse.Point{Dim: 100, Sparsity: s, Epsilon: eps})
				if err != nil {
					t.Fatal(err)
				}
				want := exactErrors{Mean: mse, Items: math.Inf(1)}
				measure(t, roundOf(t, signsketch.Name, 100, s, eps), input(100, s, 0), 60, 10, want, 6, rng)
			})
		}
	}
}

// The false-positive rate is below 2e-6: see checkRounds.
func TestRoundsHaveTheExactError(t *testing.T) {
	for _, m := range slotted {
		t.Run(m.Name(), func(t *testing.T) { checkRounds(t, m.Scheme, *long) })
	}
}

// Whole rounds of SignSketch against the exact error, where the sketch is at its best, and the bias of coordinates
// that half of the clients share. 4 t-tests with 39 degrees of freedom at 8 (1e-9 each) and 272 normal tests at 6.5
// standard errors (8e-11 each): false-positive rate below 1e-7.
func TestSignSketchRoundsHaveTheExactError(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{61}))
	for _, s := range []int{4, 64} {
		if s > 4 && !*long {
			continue // 40 rounds with 2^19 labels
		}
		for _, eps := range []float64{0.5, 1} {
			t.Run(fmt.Sprintf("s=%d/eps=%g", s, eps), func(t *testing.T) {
				const dim = 7850
				mse, err := signsketch.Scheme.MSE(sparse.Point{Dim: dim, Sparsity: s, Epsilon: eps})
				if err != nil {
					t.Fatal(err)
				}
				variance := (mse + float64(s)) / dim // of a coordinate outside, and nearly of one inside
				measureRounds(t, roundOf(t, signsketch.Name, dim, s, eps), 40, 20, mse, variance, 8, 6.5, rng)
			})
		}
	}
}

// The ternary search must find what trying every t finds.
func TestBestSlotsAgainstExhaustion(t *testing.T) {
	for _, m := range slotted {
		t.Run(m.Name(), func(t *testing.T) { checkBestSlots(t, m.Definition().MinSlots, m.step, m.objectives...) })
	}
}

// The bytes of reports and snapshots, as docs/report-format.md describes them.
func TestVectors(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) { checkVectors(t, name, "../"+name+"/testdata/vectors.json") })
	}
}
