package rotation_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/rotation"
)

// signs reads the diagonal of P off an inverse: H maps d'·e_0 to d' times all ones.
func signs(t testing.TB, r *rotation.Rotation) []float64 {
	t.Helper()
	y := make([]float64, r.PaddedDim())
	y[0] = float64(len(y))
	return inverse(t, r, y)
}

// The first two outputs of ChaCha8 for this seed are 0xb773b6063d4616a5 and
// 0x1160af22a66abc3c, says the test of math/rand/v2 in Go's standard library.
func TestSignsFollowTheWrittenRule(t *testing.T) {
	r := mustNew(t, 100, [32]byte([]byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ123456")))
	words := []uint64{0xb773b6063d4616a5, 0x1160af22a66abc3c}
	for i, got := range signs(t, r) {
		want := 1.0
		if words[i/64]>>(i%64)&1 == 1 {
			want = -1
		}
		if got != want {
			t.Errorf("sign %d: got %v, want %v", i, got, want)
		}
	}
}

// The signs of 1024 words: their number of −1, how often each bit position of a word is
// −1, and how often neighbours agree. Each check refuses a uniform stream with
// probability at most 10^-6.
func TestSignsAreUniform(t *testing.T) {
	const dim, z = 1 << 16, 4.9 // P[|N(0,1)| > 4.9] < 10^-6
	p := signs(t, mustNew(t, dim, [32]byte{7}))
	var position [64]float64
	total, pairs := 0.0, 0.0
	for i, s := range p {
		if s != 1 && s != -1 {
			t.Fatalf("sign %d is %v", i, s)
		}
		if s < 0 {
			total++
			position[i%64]++
		}
		if i > 0 && s == p[i-1] {
			pairs++
		}
	}
	for name, count := range map[string]float64{"negative": total, "agreeing neighbours": pairs} {
		if math.Abs(count-dim/2) > z*math.Sqrt(dim)/2+1 {
			t.Errorf("%s: %v of %v", name, count, dim)
		}
	}
	statistic, each := 0.0, float64(dim/64)
	for _, c := range position {
		statistic += (c - each/2) * (c - each/2) / (each / 4)
	}
	if limit := (distuv.ChiSquared{K: 64}).Quantile(1 - 1e-6); statistic > limit {
		t.Errorf("bit positions: chi-square %v with 64 degrees of freedom, above %v", statistic, limit)
	}
}

// Different keys agree in each of 1000 signs with probability ½: within 4.9 standard
// deviations except with probability 10^-6.
func TestKeysGiveDifferentRotations(t *testing.T) {
	a, b := signs(t, mustNew(t, 1000, [32]byte{8})), signs(t, mustNew(t, 1000, [32]byte{31: 8}))
	if d := floats.Dot(a, b); math.Abs(d) > 4.9*math.Sqrt(1000) {
		t.Errorf("two keys: inner product of signs %v", d)
	}
	if c := signs(t, mustNew(t, 1000, [32]byte{8})); !slices.Equal(a, c) {
		t.Error("one key gave two rotations")
	}
}
