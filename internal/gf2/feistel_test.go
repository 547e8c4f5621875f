package gf2

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// pairLaw is the law of the difference of two numbers after all rounds, from the difference of a
// start: halves 0, 1 and 2 stand for a difference of 0, for the start's difference and for the others.
func pairLaw(high, low int, start [2]int) (law [3][3]float64) {
	law[start[0]][start[1]] = 1
	for round := range feistelRounds {
		var next [3][3]float64
		for h := range law {
			for l, p := range law[h] {
				switch odd := round%2 == 1; {
				case odd && h == 0 || !odd && l == 0: // one value for both numbers
					next[h][l] += p
				case odd:
					for to, n := range halves(low) {
						next[h][to] += p * n / math.Exp2(float64(low))
					}
				default:
					for to, n := range halves(high) {
						next[to][l] += p * n / math.Exp2(float64(high))
					}
				}
			}
		}
		law = next
	}
	return law
}

// halves are the numbers of differences that a half's 0, 1 and 2 stand for.
func halves(bits int) [3]float64 { return [3]float64{1, 1, math.Exp2(float64(bits)) - 2} }

// The law of the difference against all networks of 2 bits, 4 functions in each round.
func TestPairsFollowTheirLaw(t *testing.T) {
	const networks = 1 << (2 * feistelRounds)
	for start := uint32(1); start < 4; start++ {
		var counts [4]int
		for choice := range networks {
			f := &feistel{low: 1}
			for i := range f.functions {
				f.functions[i] = []uint16{uint16(choice >> (2 * i) & 1), uint16(choice >> (2*i + 1) & 1)}
			}
			counts[f.of(1)^f.of(1^start)]++
		}
		law := pairLaw(1, 1, [2]int{int(start >> 1), int(start & 1)})
		for h := range 2 {
			for l := range 2 {
				if want := law[h][l] * networks; float64(counts[2*h+l]) != want {
					t.Errorf("difference %d becomes %d in %d networks, want %g", start, 2*h+l, counts[2*h+l], want)
				}
			}
		}
	}
}

// The largest deviation of a pair, as the package documentation has it.
func TestPairsAreUniformUpToTheStatedDeviation(t *testing.T) {
	for m := drawnBits + 1; m <= MaxBits; m++ {
		low, high := m/2, m-m/2
		largest := 0.0
		for _, start := range [][2]int{{0, 1}, {1, 0}, {1, 1}} {
			deviation := 0.0
			for h, row := range pairLaw(high, low, start) {
				for l, p := range row {
					if h+l > 0 {
						deviation += math.Abs(p-halves(high)[h]*halves(low)[l]/(math.Exp2(float64(m))-1)) / 2
					}
				}
			}
			largest = max(largest, deviation)
		}
		// Sums of numbers below 1 are rounded by less than 2^−50 in all.
		if limit := math.Exp2(float64(-3 * low)); largest > limit+0x1p-50 || largest < limit/2 {
			t.Errorf("m = %d: deviation 2^%.2f, documented 2^%d", m, math.Log2(largest), -3*low)
		}
	}
}

// Keys whose structure a weak permutation would show.
var structured = map[string][4]uint32{
	"in close order":         {0, 1, 2, 3},
	"at the end":             {1<<17 - 1, 1<<17 - 2, 1<<17 - 3, 1<<17 - 4},
	"one bit, low half":      {0, 1, 2, 4},
	"one bit, high half":     {0, 1 << 16, 1 << 15, 1 << 8},
	"one bit of each half":   {5, 5 ^ 1<<12, 5 ^ 1<<3, 5 ^ 1<<12 ^ 1<<3},
	"sum 0, one low half":    {9, 9 ^ 1<<9, 9 ^ 1<<14, 9 ^ 1<<9 ^ 1<<14},
	"sum 0, two high halves": {3 << 8, 7 << 8, 3<<8 | 200, 7<<8 | 200},
}

// Over 20 000 networks, the labels of two, three and four fixed keys are compared with uniform
// ones, by their highest 4, 3 and 2 bits and by the bits around the border of their halves. A χ² of n
// cells has mean n−1 and variance 2(n−1). Its Chernoff bound at n − 1 + z·√(2n) + z² is e^(−z²/2)
// (Laurent and Massart, 2000, lemma 1, with x = z²/2): z = 6 gives 1.6e-8 for each of 42.
func TestStructuredKeysHaveUniformLabels(t *testing.T) {
	const networks, m, z = 20_000, 17, 6.
	type statistic struct{ labels, bits, shift int }
	statistics := []statistic{{2, 4, 13}, {2, 4, 6}, {3, 3, 14}, {3, 3, 7}, {4, 2, 15}, {4, 2, 7}}
	counts := map[string][][]int{}
	for name := range structured {
		for _, s := range statistics {
			counts[name] = append(counts[name], make([]int, 1<<(s.labels*s.bits)))
		}
	}
	var key [32]byte
	for i := range uint32(networks) {
		binary.LittleEndian.PutUint32(key[:], i)
		f := newFeistel(m, rand.NewChaCha8(key))
		for name, keys := range structured {
			var labels [4]uint32
			for at, x := range keys {
				labels[at] = f.of(x)
			}
			for number, s := range statistics {
				cell := uint32(0)
				for _, label := range labels[:s.labels] {
					cell = cell<<s.bits | label>>s.shift&(1<<s.bits-1)
				}
				counts[name][number][cell]++
			}
		}
	}
	for name := range structured {
		for number, s := range statistics {
			cells := math.Exp2(float64(s.labels * s.bits))
			want, chi2 := networks/cells, 0.0
			for _, n := range counts[name][number] {
				chi2 += (float64(n) - want) * (float64(n) - want) / want
			}
			if limit := cells - 1 + z*math.Sqrt(2*cells) + z*z; chi2 > limit {
				t.Errorf("keys %s, %+v: χ² = %.0f, at most %.0f", name, s, chi2, limit)
			}
		}
	}
}

// Sets of four keys whose sum modulo 2 is 0 must have labels whose sum is 0 as often as others. For
// every pair of bits, all keys fall into sets of four that differ in them. A uniform
// permutation sends a set to one of sum 0 with probability 1/(2^m − 3). The number of those is
// about a Poisson variable: z = 6 has a probability of 2e-9 for each of 136 pairs and for all
// of them.
func TestSumsOfFourLabelsAreZeroAsOftenAsOfUniformOnes(t *testing.T) {
	const m, networks, z = 17, 16, 6.
	all, hits := 0, map[[2]int]int{}
	labels := make([]uint32, 1<<m)
	for i := range networks {
		f := newFeistel(m, rand.NewChaCha8([32]byte{byte(i), 9}))
		f.fill(labels, 0)
		for b := range m {
			for a := range b {
				for x := range uint32(1) << m {
					if x>>a&1|x>>b&1 == 0 && labels[x]^labels[x|1<<a]^labels[x|1<<b]^labels[x|1<<a|1<<b] == 0 {
						hits[[2]int{a, b}]++
						all++
					}
				}
			}
		}
	}
	check := func(what string, got int, want float64) {
		if math.Abs(float64(got)-want) > z*math.Sqrt(want)+z {
			t.Errorf("%s: %d sets of sum 0, want %.1f", what, got, want)
		}
	}
	const each = networks * (1 << (m - 2)) / (1<<m - 3.)
	for pair, n := range hits {
		check(fmt.Sprint("bits ", pair), n, each)
	}
	check("all pairs of bits", all, each*m*(m-1)/2)
}

func BenchmarkLabels(b *testing.B) {
	for _, m := range []int{16, 17, 20, 24, 30} {
		l, err := NewLabels(1<<m, [32]byte{1})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("m=%d/open", m), func(b *testing.B) {
			for range b.N {
				if _, err := NewLabels(1<<m, [32]byte{1}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("m=%d/of", m), func(b *testing.B) {
			label := uint32(0)
			for i := range b.N {
				label = l.Of((label + uint32(i)) & (1<<m - 1)) // each waits for the one before
			}
		})
		b.Run(fmt.Sprintf("m=%d/fill", m), func(b *testing.B) { // nanoseconds per label
			dst := make([]uint32, 1<<12)
			for i := 0; i < b.N; i += len(dst) {
				l.Fill(dst, uint32(i)&(1<<m-1))
			}
		})
	}
}
