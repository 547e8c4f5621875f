package sparse

import (
	"math"
	"math/bits"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The probabilities of the linear family against exhaustion: all matrices of full
// rank, all assignments of distinct labels to the client's keys and to two foreign
// keys. The reported cell is each marked cell with probability own, and another
// one uniformly otherwise, as the randomizers choose it.
func TestLinearChancesByEnumeration(t *testing.T) {
	const m, s = 4, 2
	for k := 1; k <= 3; k++ {
		for _, own := range []float64{0.05, 0.31, 0.5} {
			if s*own > 1 {
				continue
			}
			var together, falseHit, falsePair, count float64
			eachFullRank(m, k, func(rows []uint32) {
				eachDistinct(m, func(l [4]uint32) {
					var cell [4]uint32
					for i := range l {
						for r, row := range rows {
							cell[i] |= uint32(bits.OnesCount32(row&l[i])&1) << r
						}
					}
					marked := 2.0
					if cell[0] == cell[1] {
						marked, together = 1, together+1
					}
					rest := 0.0
					if cells := float64(int(1) << k); cells > marked {
						rest = (1 - marked*own) / (cells - marked)
					}
					reported := func(c uint32) float64 {
						if c == cell[0] || c == cell[1] {
							return own
						}
						return rest
					}
					falseHit += reported(cell[2])
					if cell[2] == cell[3] {
						falsePair += reported(cell[2])
					}
					count++
				})
			})
			if k == 1 && 2*own != 1 { // two marked cells of two must take everything
				continue
			}
			c, err := NewChances(HashGF2, Separate, 1<<m, 1<<k)
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range map[string][2]float64{
				"Together":    {c.Together(), together / count},
				"FalseHit":    {c.FalseHit(s, own), falseHit / count},
				"FalsePair":   {c.FalsePair(s, own), falsePair / count},
				"Overwritten": {c.Overwritten(s), together / count / 2},
			} {
				if math.Abs(v[0]-v[1]) > 1e-9 { // millions of additions
					t.Errorf("k=%d own=%g: %s = %.12f, exhaustion gives %.12f", k, own, name, v[0], v[1])
				}
			}
		}
	}
}

// Overwritten for three and four keys, where later ones can share the cell in
// several ways.
func TestOverwrittenByEnumeration(t *testing.T) {
	const m = 4
	for k := 1; k <= 3; k++ {
		var hit [4]float64 // by the number of later keys
		count := 0.0
		eachFullRank(m, k, func(rows []uint32) {
			eachDistinct(m, func(l [4]uint32) {
				for later := 1; later < 4; later++ {
					for i := 1; i <= later; i++ {
						same := true
						for _, row := range rows {
							same = same && bits.OnesCount32(row&(l[0]^l[i]))&1 == 0
						}
						if same {
							hit[later]++
							break
						}
					}
				}
				count++
			})
		})
		c, err := NewChances(HashGF2, Paired, 1<<m, 2<<k)
		if err != nil {
			t.Fatal(err)
		}
		for s := 1; s <= 4; s++ {
			want := 0.0
			for r := range s {
				want += hit[r] / count / float64(s)
			}
			if got := c.Overwritten(s); math.Abs(got-want) > 1e-12 {
				t.Errorf("k=%d: Overwritten(%d) = %.12f, exhaustion gives %.12f", k, s, got, want)
			}
		}
	}
}

// eachFullRank calls f with the rows of every k×m matrix of full rank.
func eachFullRank(m, k int, f func(rows []uint32)) {
	rows := make([]uint32, k)
	var grow func(i int, span map[uint32]bool)
	grow = func(i int, span map[uint32]bool) {
		if i == k {
			f(rows)
			return
		}
		for row := range uint32(1) << m {
			if span[row] {
				continue
			}
			rows[i] = row
			wider := make(map[uint32]bool, 2*len(span))
			for v := range span {
				wider[v], wider[v^row] = true, true
			}
			grow(i+1, wider)
		}
	}
	grow(0, map[uint32]bool{0: true})
}

// eachDistinct calls f with every choice of four distinct labels up to the translation that moves the first to 0, under
// which nothing changes, and up to an invertible matrix that moves the second to 1: its product with a matrix of full rank
// is another one, so that sums over all of these do not change.
func eachDistinct(m int, f func(l [4]uint32)) {
	n := uint32(1) << m
	for b := uint32(2); b < n; b++ {
		for c := uint32(2); c < n; c++ {
			if b != c {
				f([4]uint32{0, 1, b, c})
			}
		}
	}
}

// The ideal family's closed forms against the sums they stand for.
func TestIdealChances(t *testing.T) {
	for _, slots := range []int{2, 8, 1 << 20, 1 << 30} {
		for _, s := range []int{1, 2, 7, 64} {
			c, err := NewChances(HashIdeal, Paired, 1000, slots)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for r := range s {
				want -= math.Expm1(float64(r)*math.Log1p(-2/float64(slots))) / float64(s)
			}
			if slots == 2 {
				want = 1 - 1/float64(s) // one pair: all but the last are overwritten
			}
			if got := c.Overwritten(s); math.Abs(got-want) > 1e-12*max(want, 1e-3) {
				t.Errorf("t=%d s=%d: Overwritten = %g, want %g", slots, s, got, want)
			}
		}
	}
	c, _ := NewChances(HashIdeal, Separate, 1000, 10)
	if c.Together() != 0.1 || c.FalseHit(5, 0.1) != 0.1 || math.Abs(c.FalsePair(5, 0.1)-0.01) > 1e-17 {
		t.Errorf("Separate: %g %g %g", c.Together(), c.FalseHit(5, 0.1), c.FalsePair(5, 0.1))
	}
}

func TestSlotChoices(t *testing.T) {
	for _, c := range []struct {
		name              string
		layout            Layout
		keys, low         int
		first, step, high int
	}{
		{HashIdeal, Paired, 100, 7, 8, 2, MaxSlots}, {HashIdeal, Separate, 100, 7, 7, 1, MaxSlots},
		{HashGF2, Paired, 100, 7, 8, 0, 256}, {HashGF2, Separate, 100, 7, 8, 0, 128}, {HashGF2, Separate, 128, 128, 128, 0, 128},
	} {
		first, step, high := SlotChoices(c.name, c.layout, c.keys, c.low)
		if first != c.first || step != c.step || high != c.high {
			t.Errorf("%+v: got %d, %d, %d", c, first, step, high)
		}
	}
	var p *fl.ParamError
	if _, err := NewChances(HashGF2, Paired, 100, 512); err == nil {
		t.Error("more pairs than labels: want an error")
	} else if p, _ = err.(*fl.ParamError); p == nil || p.Param != "slots" {
		t.Errorf("more pairs than labels: %v", err)
	}
}
