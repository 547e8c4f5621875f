package table

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// random returns weights of the right sum, some of them 0, some of them most of it.
func random(rng *rand.Rand) []*big.Int {
	rest := new(big.Int).Lsh(big.NewInt(1), TotalBits)
	weights := make([]*big.Int, Len)
	for i := range weights {
		weights[i] = new(big.Int)
		if i%5 == 0 {
			continue
		}
		w := new(big.Int).SetUint64(rng.Uint64())
		weights[i].Rsh(w.Mul(w, w).Lsh(w, 30), uint(12+rng.IntN(100)))
		rest.Sub(rest, weights[i])
	}
	weights[7].Add(weights[7], rest)
	return weights
}

// The probabilities that the table gives, added up exactly, are the weights.
func TestTableHoldsTheWeights(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for range 5 {
		weights := random(rng)
		table, err := New(weights)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]*big.Int, Len)
		for i := range got {
			got[i] = new(big.Int)
		}
		size := new(big.Int).Lsh(big.NewInt(1), ownBits)
		for i, c := range table.columns {
			own := new(big.Int).SetUint64(uint64(c >> indexBits))
			for _, part := range table.far[i] {
				own.Lsh(own, 64).Add(own, new(big.Int).SetUint64(part))
			}
			got[i].Add(got[i], own)
			other := got[c&(Len-1)]
			other.Add(other, own.Sub(size, own))
		}
		for i, w := range weights {
			if got[i].Cmp(w) != 0 {
				t.Fatalf("index %d has %d, want %d", i, got[i], w)
			}
		}
	}
}

// source gives the words that a test wants.
type source struct{ words []uint64 }

func (s *source) Uint64() uint64 {
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// Draw compares 19, then 64, then 64 bits with the threshold of its column.
func TestDrawComparesWithTheThreshold(t *testing.T) {
	table := &Table{}
	const column, other, own = 2748, 77, 300_000
	table.columns[column] = own<<indexBits | other
	table.far[column] = [2]uint64{1 << 40, 1 << 50}
	for _, c := range []struct {
		near  uint32
		words []uint64
		want  uint32
		left  int
	}{
		{0, nil, column, 0},
		{own - 1, nil, column, 0},
		{own + 1, nil, other, 0},
		{1<<nearBits - 1, nil, other, 0},
		{own, []uint64{1<<40 - 1}, column, 0},
		{own, []uint64{1<<40 + 1}, other, 0},
		{own, []uint64{1 << 40, 1<<50 - 1}, column, 0},
		{own, []uint64{1 << 40, 1 << 50}, other, 0},
	} {
		src := &source{words: c.words}
		for _, sign := range []uint32{0, 1 << 31} {
			src.words = c.words
			if got := table.Draw(sign|column<<nearBits|c.near, rand.New(src)); got != c.want || len(src.words) != c.left {
				t.Errorf("%+v: got %d, %d words left", c, got, len(src.words))
			}
		}
	}
	if got := table.Signed(column<<nearBits, nil); got != column {
		t.Errorf("+: %d", got)
	}
	if got := table.Signed(1<<31|column<<nearBits, nil); got != -column-1 {
		t.Errorf("−: %d", got)
	}
}

// Draws have the frequencies of the law, here i+1 in proportion: mean and variance of 200 000
// draws within 5.5 standard errors, 2·4e-8.
func TestDrawsFollowTheLaw(t *testing.T) {
	weights, rest := make([]*big.Int, Len), new(big.Int).Lsh(big.NewInt(1), TotalBits)
	unit := new(big.Int).Quo(rest, big.NewInt(Len*(Len+1)/2))
	for i := range weights {
		weights[i] = new(big.Int).Mul(unit, big.NewInt(int64(i+1)))
		rest.Sub(rest, weights[i])
	}
	weights[0].Add(weights[0], rest)
	table, err := New(weights)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	const draws = 200_000
	var first, second, want, square, fourth float64
	for i := range Len {
		x, p := float64(i)/Len, 2*float64(i+1)/(Len*(Len+1))
		want, square, fourth = want+x*p, square+x*x*p, fourth+x*x*x*x*p
	}
	for range draws {
		x := float64(table.Draw(uint32(rng.Uint64()), rng)) / Len
		first, second = first+x/draws, second+x*x/draws
	}
	if z := (first - want) / math.Sqrt((square-want*want)/draws); math.Abs(z) > 5.5 {
		t.Errorf("mean %g, want %g (%.1f)", first, want, z)
	}
	if z := (second - square) / math.Sqrt((fourth-square*square)/draws); math.Abs(z) > 5.5 {
		t.Errorf("second moment %g, want %g (%.1f)", second, square, z)
	}
}

func TestBadWeightsAreRefused(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{9}))
	negative := random(rng)
	negative[7].Add(negative[7], new(big.Int).Add(negative[8], big.NewInt(1)))
	negative[8].SetInt64(-1)
	for name, weights := range map[string][]*big.Int{
		"few":      random(rng)[1:],
		"negative": negative,
		"sum":      append(random(rng)[1:], big.NewInt(1)),
	} {
		if _, err := New(weights); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
