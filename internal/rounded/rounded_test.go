package rounded

import (
	"math"
	"math/rand/v2"
	"testing"
)

// probability of the rounded normal law of standard deviation d to be at most k.
func probability(k, d float64) float64 { return math.Erfc(-(k+1)/d/math.Sqrt2) / 2 }

// The law of q·D + N on the grid, by summing the two tables exactly as Rand does, against
// the normal law: both have masses of about 6e-6, known to 1e-16 of 1 or so.
func TestTwoTablesAddUpToTheNormalLaw(t *testing.T) {
	points, cells := densities(), make([]float64, 4096)
	law := make([]float64, 4096)
	var sumPoints, sumCells float64
	for m, f := range points {
		law[m], _ = f.Float64()
		cells[m], _ = integral(f, m).Float64()
		sumPoints += 2 * law[m]
		sumCells += 2 * cells[m]
	}
	folded := func(w []float64, k int) float64 {
		if k < 0 {
			k = -k - 1
		}
		if k >= len(w) {
			return 0
		}
		return w[k]
	}
	for _, w := range []int{0, -1, 1, 89, 90, 91, 179, 180, 1000, -65168, 123456, 300001} {
		got := 0.
		for d := -4096; d < 4096; d++ {
			got += folded(law, d) / sumPoints * folded(cells, w-q*d-q/2) / sumCells
		}
		want := (math.Erfc(float64(w)/Deviation/math.Sqrt2) - math.Erfc(float64(w+1)/Deviation/math.Sqrt2)) / 2
		if w < 0 {
			want = (math.Erfc(-float64(w+1)/Deviation/math.Sqrt2) - math.Erfc(-float64(w)/Deviation/math.Sqrt2)) / 2
		}
		// The difference of complementary errors cancels to 2^-53 absolutely.
		if math.Abs(got-want) > 0x1p-51 {
			t.Errorf("P[%d] = %.15g, want %.15g", w, got, want)
		}
	}
}

// Draws of both widths against the law: counts in 20 cells of 1/20 each. With N = 400 000
// draws a count has standard deviation sqrt(N·0.05·0.95); 40 counts beyond 5.5 of them, mean and
// variance beyond 5.5 of theirs have probability below 44·4e-8 = 2e-6.
func TestDrawsFollowTheLaw(t *testing.T) {
	n, err := New()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	const draws = 400_000
	for name, c := range map[string]struct {
		deviation float64
		draw      func(*rand.Rand) int64
	}{"Rand": {Deviation, n.Rand}, "Wide": {WideDeviation, n.Wide}} {
		var counts [20]float64
		var sum, squares float64
		for range draws {
			k := float64(c.draw(rng))
			counts[min(19, int(20*probability(k, c.deviation)))]++
			x := (k + 0.5) / c.deviation
			sum += x
			squares += x * x
		}
		for i, count := range counts {
			if z := (count - draws/20.) / math.Sqrt(draws*0.05*0.95); math.Abs(z) > 5.5 {
				t.Errorf("%s: %v draws in part %d of 20 (%.1f standard deviations)", name, count, i, z)
			}
		}
		if z := sum / math.Sqrt(draws); math.Abs(z) > 5.5 {
			t.Errorf("%s: the mean is %.1f standard errors off", name, z)
		}
		if z := (squares - draws) / math.Sqrt(2*draws); math.Abs(z) > 5.5 {
			t.Errorf("%s: the variance is %.1f standard errors off", name, z)
		}
	}
}

// source gives one word, with all signs turned or not.
type source struct {
	word *uint64
	turn uint64
}

func (s source) Uint64() uint64 { return *s.word ^ s.turn }

// Both laws are symmetric about −½: turning the signs of the words, bits 31 and 63, turns
// the noise.
func TestNoiseIsSymmetric(t *testing.T) {
	n, err := New()
	if err != nil {
		t.Fatal(err)
	}
	var word uint64
	one, other := rand.New(source{word: &word}), rand.New(source{word: &word, turn: 1<<63 | 1<<31})
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	for range 1000 {
		word = rng.Uint64()
		if a, b := n.Rand(one), n.Rand(other); a+b != -1 || max(a, -a) > Limit {
			t.Fatalf("Rand: %d and %d", a, b)
		}
		if a, b := n.Wide(one), n.Wide(other); a+b != -1 {
			t.Fatalf("Wide: %d and %d", a, b)
		}
	}
}

func TestConstants(t *testing.T) {
	if v := s * math.Sqrt(q*q+1); math.Abs(v-Deviation) > 1e-10*v {
		t.Errorf("Deviation = %v, want %v", Deviation, v)
	}
	if v := s * math.Sqrt(q*q*q*q*q*q+q*q*q*q+q*q+1); math.Abs(v-WideDeviation) > 1e-13*v {
		t.Errorf("WideDeviation = %v, want %v", WideDeviation, v)
	}
	if math.Sqrt(float64(int(1)<<(twiceVariance-1))) != s {
		t.Errorf("s² = %v is not half of 2^%d", s*s, twiceVariance)
	}
	// Four tails of tables, the rest is far below.
	if tails := 4 * math.Erfc(4096/s/math.Sqrt2); !(tails < Distance*(1-1e-3)) {
		t.Errorf("the tails have %g, above Distance", tails)
	}
}

func BenchmarkRand(b *testing.B) {
	n, err := New()
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	var sum int64
	for b.Loop() {
		sum += n.Rand(rng)
	}
	_ = sum
}

func BenchmarkTables(b *testing.B) {
	for b.Loop() {
		c := densities()
		for m, f := range c {
			c[m] = integral(f, m)
		}
		units(c)
	}
}
