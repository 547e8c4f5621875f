// Package table draws from a law on 4096 values, fast and yet exactly. Use it for the noise of
// mechanisms that draw some for every coordinate. Start with [New].
//
// A draw is one look into a table of 16 KB, with 31 random bits most of the time. It is the
// alias method of Walker in the form of Vose, A Linear Algorithm for Generating Random Numbers
// with a Given Distribution, IEEE Transactions on Software Engineering 17(9), 1991. The
// thresholds have 147 bits, and the table holds the first 19 of them. Where 19 random bits
// agree with them, once in 2^19 draws, the others are drawn too.
package table

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Limits of a Table.
const (
	// Len is the number of weights.
	Len = 1 << indexBits
	// TotalBits is the binary logarithm of the sum of the weights.
	TotalBits = indexBits + ownBits

	indexBits = 12
	nearBits  = 19             // of a threshold, in the table
	ownBits   = nearBits + 128 // of a threshold
)

// Table is immutable and safe for concurrent use.
type Table struct {
	columns [Len]uint32 // the first bits of the threshold, then the other index
	far     [Len][2]uint64
}

// New returns the table of Len weights of at least 0 and of sum 2^TotalBits. O(Len) time,
// 80 KB.
func New(weights []*big.Int) (*Table, error) {
	if len(weights) != Len {
		return nil, fmt.Errorf("table: %w", fl.Invalid("len(weights)", len(weights), "must be %d", Len))
	}
	rest, sum := make([]*big.Int, Len), new(big.Int)
	for i, w := range weights {
		if w.Sign() < 0 {
			return nil, fmt.Errorf("table: %w", fl.Invalid(fmt.Sprintf("weights[%d]", i), w, "must be at least 0"))
		}
		rest[i] = new(big.Int).Set(w)
		sum.Add(sum, w)
	}
	if one := big.NewInt(1); sum.Cmp(one.Lsh(one, TotalBits)) != 0 {
		return nil, fmt.Errorf("table: %w", fl.Invalid("weights", sum, "must add up to 2^%d", TotalBits))
	}
	t := &Table{}
	t.shareOut(rest)
	return t, nil
}

// shareOut makes columns of 2^ownBits units each.
func (t *Table) shareOut(rest []*big.Int) {
	size := new(big.Int).Lsh(big.NewInt(1), ownBits)
	var small, large []int // indices with less than a column left to place, and the others
	for i, w := range rest {
		if w.Cmp(size) < 0 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	low := new(big.Int)
	for len(small) > 0 {
		// Less than a column here means more than a column there, as the sum is right.
		i, donor := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.columns[i] = uint32(low.Rsh(rest[i], 128).Uint64())<<indexBits | uint32(donor)
		t.far[i] = [2]uint64{low.Rsh(rest[i], 64).And(low, mask).Uint64(), low.And(rest[i], mask).Uint64()}
		rest[donor].Sub(rest[donor], low.Sub(size, rest[i]))
		if rest[donor].Cmp(size) < 0 {
			large = large[:len(large)-1]
			small = append(small, donor)
		}
	}
	for _, i := range large {
		t.columns[i] = uint32(i) // shares with itself
	}
}

var mask = new(big.Int).SetUint64(1<<64 - 1)

// Draw returns index i with probability weights[i]/2^TotalBits when the low 31 bits of
// word are uniform. rng supplies the bits beyond, if it comes to that.
func (t *Table) Draw(word uint32, rng *rand.Rand) uint32 {
	i := word >> nearBits & (Len - 1)
	c := t.columns[i]
	other, own, u := c&(Len-1), c>>indexBits, word&(1<<nearBits-1)
	if u == own {
		return t.far128(i, other, rng)
	}
	if u < own {
		other = i
	}
	return other
}

func (t *Table) far128(i, other uint32, rng *rand.Rand) uint32 {
	far := &t.far[i]
	u := rng.Uint64()
	if u < far[0] || u == far[0] && rng.Uint64() < far[1] {
		return i
	}
	return other
}

// Signed draws m and a sign: m or −m−1, from a uniform word. The law is symmetric about
// −½.
func (t *Table) Signed(word uint32, rng *rand.Rand) int64 {
	return int64(t.Draw(word, rng)) ^ -int64(word>>31)
}
