package privacy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// References computed with mpmath 1.3 by summing the tail with 45 digits.
func TestCoinTailReference(t *testing.T) {
	for _, c := range []struct {
		k, b         int
		mass, excess float64
	}{
		{1000, 500, 0.51261250908918040095, 6.3062545445902004767},
		{1000, 640, 3.3161090680397016948e-19, 4.1466090825390577237e-19},
		{1_000_000, 500_000, 0.50039894218066587504, 199.47109033293752227},
		{1_000_000, 500_001, 0.49960105781933412496, 198.97148927511818815},
		{1_000_000, 503_500, 1.2887218728617816444e-12, 8.7996510513395818239e-11},
		{500_000_000, 250_000_000, 0.50001784124115260709, 4460.3102881517726417},
		{500_000_000, 250_010_000, 0.18555864435010755346, 1134.3685496749992424},
		{500_000_000, 250_080_000, 4.1722896559784600087e-13, 6.2843206032859043538e-10},
		{500_000_000, 250_300_000, 6.7005982259094299673e-159, 2.7808682368309527802e-156},
	} {
		var tail coinTail
		tail.moveTo(c.k, c.b)
		if math.Abs(tail.mass/c.mass-1) > 2e-14 || math.Abs(tail.excess/c.excess-1) > 2e-14 {
			t.Errorf("k=%d b=%d: got mass %v excess %v, want %v and %v", c.k, c.b, tail.mass, tail.excess, c.mass, c.excess)
		}
	}
}

// All thresholds from k/2 to k+1 for small k, against exact integers.
func TestCoinTailExact(t *testing.T) {
	for k := 0; k <= 40; k++ {
		for b := (k + 1) / 2; b <= k+1; b++ {
			mass, excess := new(big.Int), new(big.Int)
			for a := b; a <= k; a++ {
				ways := new(big.Int).Binomial(int64(k), int64(a))
				mass.Add(mass, ways)
				excess.Add(excess, ways.Mul(ways, big.NewInt(int64(a-b))))
			}
			scale := new(big.Int).Lsh(big.NewInt(1), uint(k))
			wantMass, _ := new(big.Rat).SetFrac(mass, scale).Float64()
			wantExcess, _ := new(big.Rat).SetFrac(excess, scale).Float64()
			var tail coinTail
			tail.moveTo(k, b)
			if math.Abs(tail.mass-wantMass) > 1e-14*wantMass || math.Abs(tail.excess-wantExcess) > 1e-14*wantExcess {
				t.Errorf("k=%d b=%d: got mass %v excess %v, want %v and %v", k, b, tail.mass, tail.excess, wantMass, wantExcess)
			}
		}
	}
}

// A walk of the sort positivePart takes, compared with fresh evaluations. Roundings of 64
// steps add up to a few 10^-15 (measured 7e-15); without anchors it is 2e-14 to 8e-14 here.
// At the centre the fresh value itself takes thousands of steps. In steep tails the error of an
// anchor grows with its exponent, as package binomial states, before the walk and afresh.
func TestCoinTailWalk(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{1}))
	for _, c := range []struct {
		k         int
		sigma     float64 // height of the threshold
		slope     float64 // thresholds per toss beyond ½
		tolerance float64
	}{
		{10, 1, 0, 2e-14}, {1000, 4, 0.2, 4e-14}, {100_000, 3, 0.01, 2e-14}, {100_000, 6, -0.01, 2e-14},
		{3000, 15, 0, 4e-14}, {10_000, 30, -0.05, 4e-14}, {300, 8, 0, 4e-14},
		{400_000_000, 5, 1e-4, 1e-14}, {400_000_000, 0, 0, 1e-13},
	} {
		var walking coinTail
		steps := 0
		for i := range 20_000 {
			k := c.k + i
			height := c.sigma*math.Sqrt(float64(c.k))/2 + c.slope*float64(i)
			b := k/2 + max(1, int(height)+rng.IntN(3)-1)
			b = min(b, k+1)
			walking.moveTo(k, b)
			if walking.age > 0 {
				steps++
			}
			if i > 200 && i%50 != 0 {
				continue
			}
			var fresh coinTail
			fresh.moveTo(k, b)
			if walking.k != k || walking.b != b {
				t.Fatalf("%+v: walked to (%d, %d), want (%d, %d)", c, walking.k, walking.b, k, b)
			}
			tolerance := c.tolerance
			if fresh.point*16 >= fresh.mass {
				tolerance -= 8 * 0x1p-53 * math.Log(fresh.point)
			}
			for _, v := range [][2]float64{{walking.point, fresh.point}, {walking.mass, fresh.mass}, {walking.excess, fresh.excess}} {
				if math.Abs(v[0]-v[1]) > tolerance*v[1] {
					t.Fatalf("%+v k=%d b=%d: walked to %v, afresh %v", c, k, b, v[0], v[1])
				}
			}
		}
		if c.k >= 100_000 && steps < 19_000 || c.sigma > 10 && steps < 15_000 {
			t.Errorf("%+v: only %d of 20000 moves were steps", c, steps)
		}
	}
}
