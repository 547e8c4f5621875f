package slothash

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// Over all seeds a key must fall into every slot equally often, and two keys
// into the same cell with probability 1/cells: χ² with 9 degrees of freedom for
// each of 4 keys, P[χ² > 51] = 7e-8, and z-tests at 5.5σ (4e-8) for pairs of
// neighbouring and distant keys. False-positive rate below 1e-6.
func TestIdealIsUniformAndPairwiseIndependent(t *testing.T) {
	const slots, seeds = 10, 200_000
	family, err := NewFamily(Ideal, Paired, slots, [32]byte{3})
	if err != nil {
		t.Fatal(err)
	}
	keys := []uint32{0, 1, 7849, 1 << 27}
	var hist [4][slots]int
	var same [4][4]int
	h := family.Func()
	for seed := range uint32(seeds) {
		h.Bind(seed)
		var got [4]uint32
		for i, k := range keys {
			got[i] = h.Slot(k)
			hist[i][got[i]]++
		}
		for i := range got {
			for j := range i {
				if got[i]>>1 == got[j]>>1 {
					same[i][j]++
				}
			}
		}
	}
	for i := range keys {
		chi2 := 0.0
		for _, n := range hist[i] {
			d := float64(n) - seeds/slots
			chi2 += d * d / (seeds / slots)
		}
		if chi2 > 51 {
			t.Errorf("key %d: χ² = %.1f over the slots, want below 51", keys[i], chi2)
		}
		for j := range i {
			p := family.Collide(1)
			if math.Abs(p-0.2) > 1e-15 {
				t.Fatalf("Collide(1) = %g, want 1/5", p)
			}
			z := (float64(same[i][j]) - seeds*p) / math.Sqrt(seeds*p*(1-p))
			if math.Abs(z) > 5.5 {
				t.Errorf("keys %d and %d share a pair %d times, %.1fσ off", keys[i], keys[j], same[i][j], z)
			}
		}
	}
}

func TestRoundsHashDifferently(t *testing.T) {
	a, _ := NewFamily(Ideal, Separate, 1<<20, [32]byte{1})
	b, _ := NewFamily(Ideal, Separate, 1<<20, [32]byte{2})
	if a.Func().Slot(5) == b.Func().Slot(5) {
		t.Error("two public keys give the same slot out of 2^20")
	}
}

// A tally must agree with evaluating the function item by item.
func TestTallyCountsWhatTheFunctionSays(t *testing.T) {
	const dim, slots = 50, 8
	for _, layout := range []Layout{Paired, Separate} {
		family, err := NewFamily(Ideal, layout, slots, [32]byte{4})
		if err != nil {
			t.Fatal(err)
		}
		first, second, whole := family.NewTally(dim), family.NewTally(dim), family.NewTally(dim)
		wantPlus, wantMinus := make([]int64, dim), make([]int64, dim)
		h := family.Func()
		for seed := range uint32(200) {
			slot := seed * 5 % slots
			whole.Add(seed, slot)
			if seed < 70 {
				first.Add(seed, slot)
			} else {
				second.Add(seed, slot)
			}
			h.Bind(seed)
			for j := range uint32(dim) {
				if layout.Item(h, j, 1) == slot {
					wantPlus[j]++
				}
				if layout.Item(h, j, -1) == slot {
					wantMinus[j]++
				}
			}
		}
		if err := first.Merge(second); err != nil {
			t.Fatal(err)
		}
		for name, tally := range map[string]Tally{"whole": whole, "merged": first} {
			plus, minus := tally.Counts()
			for j := range dim {
				if plus[j] != wantPlus[j] || minus[j] != wantMinus[j] {
					t.Fatalf("layout %d, %s: coordinate %d has (%d, %d), want (%d, %d)",
						layout, name, j, plus[j], minus[j], wantPlus[j], wantMinus[j])
				}
			}
		}
		if err := first.Merge(family.NewTally(dim + 1)); err == nil {
			t.Error("merging another dimension: want an error")
		}
	}
}

func TestNewFamilyRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		layout Layout
		slots  int
		param  string
	}{
		{Ideal, Paired, 1, "slots"}, {Ideal, Paired, 7, "slots"}, {Ideal, Separate, MaxSlots + 1, "slots"}, {"sha1", Separate, 4, "hash"},
	} {
		_, err := NewFamily(c.name, c.layout, c.slots, [32]byte{})
		wantParam(t, err, c.param)
	}
}

func wantParam(t *testing.T, err error, param string) {
	t.Helper()
	p, ok := err.(*fl.ParamError)
	if !ok || p.Param != param {
		t.Errorf("error %v, want a ParamError for %s", err, param)
	}
}
