package privunit

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// A report with an assigned seed is the one whose law TestLocalPrivacyByEnumeration enumerates for this seed.
func TestAnAssignedSeedHasTheProvedLaw(t *testing.T) {
	m := small(t, 20, 2, 64, 14)
	grad := make([]float64, 20)
	for seed := range uint32(20) {
		grad[seed] = 1
		choose, err := m.Prepare(grad, seed)
		if err != nil {
			t.Fatal(err)
		}
		for stream := range uint64(20) {
			want := choose(nil, exact.Rand{Rand: rand.New(rand.NewPCG(stream, 1))})
			got, err := m.WithSeed(seed).Encode(nil, grad, rand.New(rand.NewPCG(stream, 1)))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("seed %d: %x, %v, want %x", seed, got, err, want)
			}
		}
	}
}

// product returns the scalar product of a candidate with the unit vector along the gradient.
func product(t *testing.T, m *mechanism, grad []float64, seed, i uint32) float64 {
	t.Helper()
	rotated := make([]float64, m.point.PaddedDim())
	copy(rotated, grad)
	if err := m.rotation.Forward(rotated, rotated[:m.rotation.Dim()]); err != nil {
		t.Fatal(err)
	}
	sum, norm, start := 0., 0., m.candidates.start(seed, i)
	for j, v := range rotated {
		norm += v * v
		sum += v * (1 - 2*float64(word(start, j/64)>>(j%64)&1))
	}
	return sum / math.Sqrt(norm)
}

// best returns the largest product that a liar finds with a seed. It is the candidate that an honest client ranks first.
func best(t *testing.T, m *mechanism, grad []float64, seed uint32) float64 {
	t.Helper()
	e := m.encoder()
	defer m.encoders.Put(e)
	if err := e.rank(grad, seed); err != nil {
		t.Fatal(err)
	}
	return product(t, m, grad, seed, e.ranking[0])
}

// A liar whose seeds are assigned sends the best of k candidates: on average at most √(2·ln k) standard deviations along its
// direction (a maximum of k sums of signs; Hoeffding's lemma), 3.33 for 256 candidates, and 2.8 here. A liar who searches 4000
// seeds has a million candidates, and so goes 1.5 times as far with every report. All seeds are fixed: nothing here is random.
func TestAnAssignedSeedStopsTheSearch(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	const assigned, searched = 400, 4000
	m := open(t, fl.Round{Dim: 650, Scale: 1, Epsilon: 2})
	bound := math.Sqrt(2 * math.Log(float64(m.point.Candidates)))
	one, spread := make([]float64, 650), make([]float64, 650)
	one[3] = 1
	for j := range spread {
		spread[j] = 1 - 2*float64(bits.OnesCount(uint(j))%2)
	}
	for name, grad := range map[string][]float64{"one coordinate": one, "all coordinates": spread} {
		mean, furthest := 0., 0.
		for seed := range uint32(searched) {
			z := best(t, m, grad, seed)
			if seed < assigned {
				mean += z / assigned
			}
			furthest = max(furthest, z)
		}
		t.Logf("%s: %.2f with assigned seeds, at most %.2f; %.2f after %d seeds", name, mean, bound, furthest, searched)
		if mean > bound || mean < 2.6 || furthest < 1.5*mean {
			t.Errorf("%s: %.3f with assigned seeds, want 2.6 to %.3f; %.3f after %d seeds, want 1.5 times as much", name, mean, bound, furthest, searched)
		}
	}
}
