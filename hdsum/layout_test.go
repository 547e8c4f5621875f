package hdsum

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/gkmps"
	"github.com/hushgrad/hushgrad/internal/sample"
)

const layoutClients = 4

// mixedLayout has three instances of GKMPS with U = 3, two of BBGN and two of GKMPS
// with U = 1.
func mixedLayout(t testing.TB) *layout {
	t.Helper()
	var groups []group
	for _, g := range []struct {
		bound int64
		base  Protocol
		count int
	}{{3, GKMPS, 3}, {5, BBGN, 2}, {1, GKMPS, 2}} {
		sum, err := newNoisySum(Config{
			Clients: layoutClients, Epsilon: 8, Delta: 0.1, Relation: fl.ReplaceOne, Base: g.base, Calibration: CalibrationTight,
		}, g.bound)
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, group{sum: sum, run: run{count: g.count}})
	}
	l, err := newLayout(groups...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// place is a value of an instance.
type place struct {
	instance uint32
	value    int64
}

// copies returns how many messages at p one copy of a flood in an instance adds.
func (p place) copies(instance int, flood gkmps.Flood) (count float64) {
	for _, v := range flood.Messages {
		if int(p.instance) == instance && v == p.value {
			count++
		}
	}
	return count
}

// The noise of all instances, drawn as clusters over all of them, has the same law
// as one negative binomial variable per instance and flood: every value's number of
// messages has the right mean, and every two have the right covariance, 0 between
// instances. (22 means. Products are less normal than sums: the 253 covariances get
// 7 standard errors each, together below 1e-9 if they were normal; 1e-6 is allowed
// for.)
func TestNoiseOfALayoutIsThatOfItsFloods(t *testing.T) {
	l := mixedLayout(t)
	trials := 20000
	if !*long {
		trials = 5000
	}
	var places []place
	number := map[place]int{}
	type source struct {
		instance int
		flood    gkmps.Flood
	}
	var sources []source
	for _, g := range l.groups {
		s, ok := g.sum.(gkmpsSum)
		if !ok {
			continue
		}
		bound := s.Bound()
		for k := g.first; k < g.first+g.count; k++ {
			for v := -bound; v <= bound; v++ {
				if p := (place{uint32(k), v}); v != 0 {
					number[p] = len(places)
					places = append(places, p)
				}
			}
			for _, f := range g.sum.Floods() {
				sources = append(sources, source{k, f})
			}
		}
	}
	mean := make([]float64, len(places))
	covariance := make([][]float64, len(places))
	for i, p := range places {
		covariance[i] = make([]float64, len(places))
		for _, s := range sources {
			share := s.flood.Total.Share(layoutClients)
			mean[i] += p.copies(s.instance, s.flood) * share.Mean()
			for j, o := range places {
				covariance[i][j] += p.copies(s.instance, s.flood) * o.copies(s.instance, s.flood) * share.Variance()
			}
		}
	}

	rng := newRand(3)
	sum := make([]float64, len(places))
	product, square := make([][]float64, len(places)), make([][]float64, len(places))
	for i := range places {
		product[i], square[i] = make([]float64, len(places)), make([]float64, len(places))
	}
	counts := make([]float64, len(places))
	single := make([]int64, trials) // of one place that a single flood fills
	for trial := range trials {
		clear(counts)
		for _, m := range l.noise(nil, rng) {
			i, ok := number[place{m.Instance, m.Value}]
			if !ok || m.Count < 1 {
				t.Fatalf("noise %+v", m)
			}
			counts[i] += float64(m.Count)
		}
		single[trial] = int64(counts[number[place{1, 3}]])
		for i := range counts {
			counts[i] -= mean[i]
			sum[i] += counts[i]
			for j := range i + 1 {
				c := counts[i] * counts[j]
				product[i][j] += c
				square[i][j] += c * c
			}
		}
	}
	n := float64(trials)
	for i, p := range places {
		if z := sum[i] / math.Sqrt(n*covariance[i][i]); math.Abs(z) > deviations {
			t.Errorf("%+v: mean is off by %.1f standard errors", p, z)
		}
		for j := range i + 1 {
			got := product[i][j] / n
			se := math.Sqrt((square[i][j]/n - got*got) / n)
			if z := (got - covariance[i][j]) / se; math.Abs(z) > 7 {
				t.Errorf("%+v and %+v: covariance %.4g, want %.4g (%.1f standard errors)", p, places[j], got, covariance[i][j], z)
			}
		}
	}
	// The value 3 of U = 3 is in one atom only.
	var atom []sample.NegativeBinomial
	for _, f := range l.groups[0].sum.Floods() {
		if (place{0, 3}).copies(0, f) > 0 {
			atom = append(atom, f.Total.Share(layoutClients))
		}
	}
	if len(atom) != 1 {
		t.Fatalf("%d floods with the value 3", len(atom))
	}
	negativeBinomialLaw(atom[0]).require(t, "copies of one atom", single)
}

// Inputs reach their own instances and no others, whatever protocol those have.
func TestEncodePutsInputsInTheirInstances(t *testing.T) {
	l := mixedLayout(t)
	rng := newRand(4)
	inputs := []input{{0, 1, 3}, {0, 2, 1}, {1, 0, 5}, {2, 1, 1}}
	trials := 3000
	if !*long {
		trials = 1000
	}
	var byInstance [7][]int64
	for range trials {
		sums := &Sums{layout: l, values: make([]int64, l.instances)}
		for client := range layoutClients {
			in := inputs
			if client > 0 {
				in = nil
			}
			m, err := l.encode(in, rng)
			if err != nil {
				t.Fatal(err)
			}
			if err := sums.Add(m); err != nil {
				t.Fatal(err)
			}
		}
		for k, v := range decoded(t, sums) {
			byInstance[k] = append(byInstance[k], int64(v))
		}
	}
	want := [7]int64{1: 3, 2: 1, 3: 5, 6: 1}
	for k, values := range byInstance {
		noise := laplaceLaw(laplace(0.9 * 8))
		switch {
		case k < 3:
			noise = laplaceLaw(laplace(0.9 * 8 / 3))
		case k < 5:
			noise = laplaceLaw(laplace(8. / 5))
		}
		exact := 0
		for _, v := range values {
			if v == want[k] {
				exact++
			}
		}
		p := noise.p[-noise.low] // of no noise
		n := float64(trials)
		if z := (float64(exact) - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > deviations {
			t.Errorf("instance %d: %d of %d sums are %d, want %.0f (%.1f standard deviations)", k, exact, trials, want[k], n*p, z)
		}
		if k < 5 {
			noise.moved(want[k]).require(t, fmt.Sprintf("instance %d", k), values)
		}
	}
}

// Messages come in order, and without a generator too.
func TestEncodeSorts(t *testing.T) {
	l := mixedLayout(t)
	m, err := l.encode(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.check(m); err != nil {
		t.Error(err)
	}
	for i := 1; i < len(m); i++ {
		if compareMessages(m[i-1], m[i]) >= 0 {
			t.Fatalf("entries %+v, %+v are out of order", m[i-1], m[i])
		}
	}
}

func TestEncodeRefusesInputsOutOfBounds(t *testing.T) {
	l := mixedLayout(t)
	for _, in := range []input{{0, 0, 4}, {0, 0, -1}, {0, 2, math.MaxInt64}, {1, 0, 6}, {1, 1, -1}, {2, 1, 2}} {
		if _, err := l.encode([]input{in}, newRand(6)); !isParam(err, "x") {
			t.Errorf("%+v: error %v", in, err)
		}
	}
}

func TestLayoutRefusesTooManyInstances(t *testing.T) {
	sum := mixedLayout(t).groups[0].sum
	if _, err := newLayout(group{sum: sum, run: run{count: maxInstances}}, group{sum: sum, run: run{count: 1}}); !isParam(err, "instances") {
		t.Errorf("error %v", err)
	}
}

// An entry limit that an honest client reached would make it fail: here none of a
// thousand reports comes near it.
func TestEntryLimitIsFarAboveHonestReports(t *testing.T) {
	l := mixedLayout(t)
	rng := newRand(7)
	for range 1000 {
		m, err := l.encode([]input{{0, 0, 3}, {1, 0, 5}, {2, 0, 1}}, rng)
		if err != nil {
			t.Fatal(err)
		}
		if 2*len(m) > l.entryLimit() {
			t.Fatalf("%d entries, the limit is %d", len(m), l.entryLimit())
		}
	}
}
