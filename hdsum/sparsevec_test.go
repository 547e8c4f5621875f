package hdsum

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

func newSparse(t testing.TB, c SparseConfig) *SparseVecSum {
	t.Helper()
	s, err := NewSparseVecSum(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func itemsSeparately(s *SparseVecSum, clients [][]int, rng *rand.Rand) (*ItemCounts, int64, error) {
	sums, messages := s.NewSums(), int64(0)
	for _, items := range clients {
		m, err := s.Encode(items, rng)
		if err != nil {
			return nil, 0, err
		}
		messages += m.Messages()
		if err := sums.Add(m); err != nil {
			return nil, 0, err
		}
	}
	e, err := s.Analyze(sums)
	return e, messages, err
}

// Simulate has the law of separate clients (2 chi-square tests, 4 moments).
func TestSimulateSparseVec(t *testing.T) {
	trials := 1500
	if !*long {
		trials = 300
	}
	clients := [][]int{{0, 2}, {1}, {}, {0, 1, 2}}
	for _, base := range []Protocol{BBGN, GKMPS} {
		s := newSparse(t, SparseConfig{Config: Config{Clients: 4, Epsilon: 10, Delta: 0.1, Relation: fl.ZeroOut, Base: base, Calibration: CalibrationTight}, Dim: 3, Beta: 0.99})
		rng := newRand(50)
		var sums, totals [2][]int64
		for k, run := range []func(*SparseVecSum, [][]int, *rand.Rand) (*ItemCounts, int64, error){
			itemsSeparately,
			func(s *SparseVecSum, clients [][]int, rng *rand.Rand) (*ItemCounts, int64, error) {
				return s.Simulate(clients, rng)
			},
		} {
			sums[k] = draws(t, trials, func() (int64, error) {
				e, messages, err := run(s, clients, rng)
				totals[k] = append(totals[k], messages)
				if err != nil {
					return 0, err
				}
				return int64(e.Value[0]+3*e.Value[1]) + 2*int64(e.MaxItems), nil
			})
			if base == GKMPS {
				requireMessages(t, "SparseVecSum", s.layout, 6+3, totals[k]) // items and counters
			}
		}
		requireSameLaw(t, "SparseVecSum, "+base.String(), sums[0], sums[1])
	}
}

// What the budgets of the instances that neighbours touch compose to, exactly: under
// zero-out a counter and 2^j coordinates; under replace-one the same for the old
// and for the new vector in two classes, and 2·2^j coordinates in one class.
func TestSparseBudget(t *testing.T) {
	const epsilon, delta = 1, 1e-6
	for _, relation := range []fl.Relation{fl.ZeroOut, fl.ReplaceOne} {
		for _, composition := range []Composition{Tight, Paper} {
			s := newSparse(t, SparseConfig{Config: Config{Clients: 10_000, Epsilon: epsilon, Delta: delta, Relation: relation, Base: BBGN}, Dim: 100, Composition: composition, Beta: 0.1})
			if s.classes != 8 || s.instances != 8*101 {
				t.Fatalf("%d classes, %d instances", s.classes, s.instances)
			}
			counter := s.groups[0].sum.Noise().Eta // bound 1: η = ε
			part := 1.0
			if relation == fl.ReplaceOne {
				part = 0.5
			}
			if math.Abs(counter-part*epsilon/2) > 1e-12 {
				t.Errorf("%s, %s: counters have ε = %g", relation, composition, counter)
			}
			if want := 1.3 / counter * math.Log(2*8/0.1); math.Abs(s.threshold-want) > 1e-9*want {
				t.Errorf("%s: threshold %g, want %g", relation, s.threshold, want)
			}
			for j := range s.classes {
				items := min(1<<j, 100)
				each := privacy.Homogeneous{Epsilon: s.groups[s.classes+j].sum.Noise().Eta, Delta: 0, Count: items}
				// The ε of the sums alone, at all of the δ their class may spend.
				got, err := each.EpsilonAt(part * delta / 2)
				if err != nil {
					t.Fatal(err)
				}
				if got > part*epsilon/2 {
					t.Errorf("%s, %s: %d items spend ε = %g of %g", relation, composition, items, got, part*epsilon/2)
				}
			}
		}
	}
}

// Classes behind the last one whose counter stands out are dropped.
func TestSparseVecSumDropsRareClasses(t *testing.T) {
	const dim, n = 6, 2000
	s := newSparse(t, SparseConfig{Config: Config{Clients: n, Epsilon: 10, Delta: 1e-6, Relation: fl.ReplaceOne}, Dim: dim, Beta: 1e-9})
	clients := make([][]int, n)
	want := make([]float64, dim)
	for i := range 1500 {
		clients[i] = [][]int{{2}, {0, 3}, {1, 2, 3}, {0, 2, 4, 5}}[i%4]
		for _, k := range clients[i] {
			want[k]++
		}
	}
	clients[1600] = []int{0, 1, 2, 3, 4, 5} // one client does not stand out
	e, _, err := s.Simulate(clients, newRand(51))
	if err != nil {
		t.Fatal(err)
	}
	if e.MaxItems != 4 {
		t.Errorf("up to %d items, want 4", e.MaxItems)
	}
	variance := 0.0
	for j := range 3 {
		variance += s.groups[s.classes+j].sum.variance()
	}
	if math.Abs(e.StdErr-math.Sqrt(variance)) > 1e-12*e.StdErr {
		t.Errorf("standard error %g, want %g", e.StdErr, math.Sqrt(variance))
	}
	// 6 values at 15 standard errors of at most a Laplace variable, 6e-10 each.
	for i, v := range e.Value {
		if math.Abs(v-want[i]) > 15*e.StdErr {
			t.Errorf("item %d: %g, want %g ± %g", i, v, want[i], e.StdErr)
		}
	}
	quiet := make([]float64, s.instances)
	for j := range s.classes {
		quiet[j] = s.threshold
	}
	quiet[s.instances-1] = 5
	if e := s.estimate(quiet); e.MaxItems != 0 || e.StdErr != 0 || e.Value[dim-1] != 0 {
		t.Errorf("counters at their threshold: %+v", e)
	}
}

// A client's number of items decides its class. Its items and its count go to that class.
func TestItemsGoToTheirClass(t *testing.T) {
	const dim = 6
	s := newSparse(t, SparseConfig{Config: Config{Clients: 1, Epsilon: 2, Delta: 1e-6, Relation: fl.ZeroOut, Base: BBGN}, Dim: dim, Beta: 0.1})
	rng := newRand(52)
	for _, items := range [][]int{{}, {5}, {0, 3}, {0, 1, 5}, {0, 1, 2, 4}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5}} {
		want := make([]float64, s.instances)
		if len(items) > 0 {
			j := int(math.Ceil(math.Log2(float64(len(items)))))
			want[j] = 1
			for _, i := range items {
				want[s.classes+j*dim+i] = 1
			}
		}
		// A mean of 2000 Laplace variables of standard deviation up to 20 for each of 28
		// instances and 7 lists, 196 in all, at 6.5 standard errors: 2e-8.
		const trials = 2000
		got := make([]float64, s.instances)
		for range trials {
			m, err := s.Encode(items, rng)
			if err != nil {
				t.Fatal(err)
			}
			sums := s.NewSums()
			if err := sums.Add(m); err != nil {
				t.Fatal(err)
			}
			for k, v := range decoded(t, sums) {
				got[k] += v / trials
			}
		}
		for g := range s.groups {
			se := math.Sqrt(s.groups[g].sum.variance() / trials)
			for k := s.groups[g].first; k < s.groups[g].first+s.groups[g].count; k++ {
				if math.Abs(got[k]-want[k]) > 6.5*se {
					t.Errorf("%v: instance %d has mean %g, want %g ± %g", items, k, got[k], want[k], se)
				}
			}
		}
	}
}

func TestSparseVecSumRefuses(t *testing.T) {
	good := SparseConfig{Config: Config{Clients: 10, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne}, Dim: 4, Beta: 0.1}
	for what, c := range map[string]struct {
		mutate func(*SparseConfig)
		param  string
	}{
		"no dim":      {func(c *SparseConfig) { c.Dim = 0 }, "dim"},
		"large dim":   {func(c *SparseConfig) { c.Dim = 1<<24 + 1 }, "dim"},
		"epsilon":     {func(c *SparseConfig) { c.Epsilon = math.NaN() }, "epsilon"},
		"delta":       {func(c *SparseConfig) { c.Delta = 0 }, "delta"},
		"relation":    {func(c *SparseConfig) { c.Relation = 9 }, "relation"},
		"beta":        {func(c *SparseConfig) { c.Beta = 1 }, "beta"},
		"composition": {func(c *SparseConfig) { c.Composition = 5 }, "composition"},
		"base":        {func(c *SparseConfig) { c.Base = 5 }, "base"},
	} {
		config := good
		c.mutate(&config)
		if _, err := NewSparseVecSum(config); !isParam(err, c.param) {
			t.Errorf("%s: error %v, want a ParamError for %s", what, err, c.param)
		}
	}
	s := newSparse(t, good)
	for _, items := range [][]int{{-1}, {4}, {1, 1}, {2, 1}, {0, 1, 2, 3, 4}} {
		if _, err := s.Encode(items, newRand(53)); !isParam(err, "items") {
			t.Errorf("%v: error %v", items, err)
		}
		if _, _, err := s.Simulate([][]int{items}, newRand(53)); !isParam(err, "items") {
			t.Errorf("%v, simulated: error %v", items, err)
		}
	}
	if _, err := s.Analyze(newSparse(t, good).NewSums()); !isParam(err, "sums") {
		t.Errorf("foreign sums: error %v", err)
	}
	if _, _, err := s.Simulate(make([][]int, 11), newRand(53)); !isParam(err, "inputs") {
		t.Errorf("too many clients: error %v", err)
	}
	if got := newSparse(t, SparseConfig{Config: Config{Clients: 10, Epsilon: 1, Delta: 1e-6, Relation: fl.ZeroOut}, Dim: 1, Beta: 0.1}).classes; got != 1 {
		t.Errorf("one coordinate has %d classes", got)
	}
}
