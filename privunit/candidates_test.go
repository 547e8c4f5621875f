package privunit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/sparse"
)

func randomReports(rng *rand.Rand, n int) []sparse.Report {
	reports := make([]sparse.Report, n)
	for i := range reports {
		reports[i] = sparse.Report{Seed: rng.Uint32(), Slot: rng.Uint32N(300)}
	}
	return reports
}

// negatives counts one sign after the other.
func negatives(c candidates, reports []sparse.Report) []uint32 {
	counts := make([]uint32, 64*c.words)
	for _, r := range reports {
		for t := range counts {
			counts[t] += uint32(word(c.start(r.Seed, r.Slot), t/64) >> (t % 64) & 1)
		}
	}
	return counts
}

func TestTalliesCountSigns(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{1}))
	c := newCandidates([32]byte{1, 15: 2}, 192)
	for _, n := range []int{0, 1, group - 1, group, group + 1, 3*group + 7, fullTally - 1, fullTally} {
		reports := randomReports(rng, n)
		got := make([]uint32, 192)
		c.tally(got, reports)
		if !slices.Equal(got, negatives(c, reports)) {
			t.Errorf("%d reports: %v", n, got)
		}
	}
}

// All ones: no counter overflows.
func TestCountersHoldAFullTally(t *testing.T) {
	var ones [group]uint64
	for i := range ones {
		ones[i] = math.MaxUint64
	}
	var counter [8]uint64
	for range fullTally / group {
		counter = plus(counter, sum(&ones))
	}
	for i, plane := range counter {
		if plane != math.MaxUint64 {
			t.Errorf("bit %d of %d is %x", i, fullTally, plane)
		}
	}
}

// The sums that rank candidates are the scalar products of signs and rounded coordinates, also of numbers whose quotients are infinite.
func TestOpposedSumsAreScalarProducts(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{2}))
	c := newCandidates([32]byte{3}, 128)
	for _, exponent := range []int{0, -1060, 900} {
		rotated := make([]float64, 128)
		largest := 0.0
		for i := range rotated {
			rotated[i] = math.Ldexp(rng.NormFloat64(), exponent)
			largest = max(largest, math.Abs(rotated[i]))
		}
		columns := make([]column, 2)
		setColumns(columns, rotated)
		opposed := make([]uint64, 9)
		c.setOpposed(opposed, columns, 77)
		for i, got := range opposed {
			want := 0.0
			for j, v := range rotated {
				if negative := word(c.start(77, uint32(i)), j/64)>>(j%64)&1 == 1; negative != (v < 0) {
					want += math.Round(math.Abs(v) / largest * 4095)
				}
			}
			if float64(got) != want {
				t.Errorf("2^%d, candidate %d: %d, want %v", exponent, i, got, want)
			}
		}
	}
}

// 2^20 signs of the candidates of some seeds: as many of each kind, at each of 64 places and between
// neighbours, seeds and candidates. 67 normal tests at 6 standard errors: false-positive rate below 2e-7.
func TestSignsAreBalanced(t *testing.T) {
	c := newCandidates([32]byte{9}, 1024)
	var places [64]float64
	var ones, neighbours, candidatesApart, seedsApart, n float64
	for seed := range uint32(64) {
		for i := range uint32(16) {
			for w := range c.words {
				v := word(c.start(seed, i), w)
				for b := range 64 {
					places[b] += float64(v >> b & 1)
					ones += float64(v >> b & 1)
					neighbours += float64((v ^ v>>1) >> (b % 63) & 1)
					candidatesApart += float64((v ^ word(c.start(seed, i+16), w)) >> b & 1)
					seedsApart += float64((v ^ word(c.start(seed+64, i), w)) >> b & 1)
					n++
				}
			}
		}
	}
	check := func(what string, got, n float64) {
		if math.Abs(got-n/2) > 6*math.Sqrt(n)/2 {
			t.Errorf("%s: %v of %v", what, got, n)
		}
	}
	for _, got := range places {
		check("a place", got, n/64)
	}
	check("ones", ones, n)
	check("neighbours", neighbours, n)
	check("candidates", candidatesApart, n)
	check("seeds", seedsApart, n)
}
