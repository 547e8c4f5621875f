package sparse

import (
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// shapes cover both layouts, and for the linear family both kinds of tally: 2^k
// below, at and above 2^(m−k), and one label per cell.
var shapes = []HashShape{
	{Layout: Paired, Dim: 50, Sparsity: 3, Slots: 8},
	{Layout: Paired, Dim: 50, Sparsity: 3, Slots: 32},
	{Layout: Paired, Dim: 60, Sparsity: 4, Slots: 128},
	{Layout: Paired, Dim: 50, Sparsity: 1, Slots: 2},
	{Layout: Paired, Dim: 50, Sparsity: 3, Slots: 8, MinKeys: 1000},
	{Layout: Separate, Dim: 50, Sparsity: 3, Slots: 8},
	{Layout: Separate, Dim: 50, Sparsity: 3, Slots: 32},
	{Layout: Separate, Dim: 60, Sparsity: 4, Slots: 128},
}

func newFamily(t testing.TB, name string, shape HashShape, key [32]byte) HashFamily {
	t.Helper()
	f, err := NewHashFamily(name, shape, key)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A tally must agree with evaluating the function item by item, whole and merged
// from parts, straight and through its stored state.
func TestTalliesCountWhatTheFunctionSays(t *testing.T) {
	for _, name := range HashFamilies() {
		for _, shape := range shapes {
			family := newFamily(t, name, shape, [32]byte{4})
			first, second, whole := family.NewTally(), family.NewTally(), family.NewTally()
			plus, minus := make([]int32, shape.Dim), make([]int32, shape.Dim)
			h := family.Func()
			for seed := range uint32(300) {
				slot := seed * 5 % uint32(shape.Slots)
				whole.Add(seed, slot)
				if seed < 70 {
					first.Add(seed, slot)
				} else {
					second.Add(seed, slot)
				}
				h.Bind(seed)
				for j := range uint32(shape.Dim) {
					if shape.Layout.Item(h, j, 1) == slot {
						plus[j]++
					}
					if shape.Layout.Item(h, j, -1) == slot {
						minus[j]++
					}
				}
			}
			restored := newFamily(t, name, shape, [32]byte{4}).NewTally()
			var state []int32
			second.Visit(func(v int32) int32 { state = append(state, v); return v })
			restored.Visit(func(int32) int32 {
				v := state[0]
				state = state[1:]
				return v
			})
			if err := first.Merge(restored); err != nil {
				t.Fatal(err)
			}
			for what, tally := range map[string]Tally{"whole": whole, "merged": first} {
				gotPlus, gotMinus := tally.Counts()
				if !slices.Equal(gotPlus, plus) || !slices.Equal(gotMinus, minus) {
					t.Errorf("%s %+v, %s: counts\n%v %v, want\n%v %v", name, shape, what, gotPlus, gotMinus, plus, minus)
				}
			}
		}
	}
}

func TestMergeRefusesOtherRounds(t *testing.T) {
	for _, name := range HashFamilies() {
		for _, shape := range shapes {
			a := newFamily(t, name, shape, [32]byte{1}).NewTally()
			if err := a.Merge(newFamily(t, name, shape, [32]byte{1}).NewTally()); err != nil {
				t.Errorf("%s %+v: the same round: %v", name, shape, err)
			}
			wider := shape
			wider.Dim++
			for what, other := range map[string]Tally{
				"seed": newFamily(t, name, shape, [32]byte{2}).NewTally(), "dimension": newFamily(t, name, wider, [32]byte{1}).NewTally(),
			} {
				if err := a.Merge(other); err == nil {
					t.Errorf("%s %+v: merged another %s", name, shape, what)
				}
			}
		}
	}
}

func TestFunctionsDependOnTheRoundAndTheSeed(t *testing.T) {
	for _, name := range HashFamilies() {
		shape := HashShape{Layout: Separate, Dim: 1 << 18, Sparsity: 4, Slots: 1 << 18}
		a, b := newFamily(t, name, shape, [32]byte{1}).Func(), newFamily(t, name, shape, [32]byte{2}).Func()
		if a.Slot(5) == b.Slot(5) && a.Slot(6) == b.Slot(6) {
			t.Errorf("%s: two rounds give the same slots out of 2^18", name)
		}
		before := a.Slot(5)
		a.Bind(77)
		if again := a.Slot(5); again == before {
			t.Errorf("%s: two seeds give the same slot out of 2^18", name)
		}
	}
}

func TestNewFamilyRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape HashShape
		param string
	}{
		{HashIdeal, HashShape{Layout: Paired, Dim: 10, Sparsity: 1, Slots: 1}, "slots"}, {HashIdeal, HashShape{Layout: Paired, Dim: 10, Sparsity: 1, Slots: 7}, "slots"},
		{HashIdeal, HashShape{Layout: Separate, Dim: 10, Sparsity: 1, Slots: MaxSlots + 1}, "slots"}, {"sha1", HashShape{Layout: Separate, Dim: 10, Sparsity: 1, Slots: 4}, "hash"},
		{HashGF2, HashShape{Layout: Paired, Dim: 10, Sparsity: 1, Slots: 12}, "slots"}, {HashGF2, HashShape{Layout: Paired, Dim: 10, Sparsity: 1, Slots: 64}, "slots"}, {HashGF2, HashShape{Layout: Separate, Dim: 10, Sparsity: 1, Slots: 64}, "slots"},
		{HashGF2, HashShape{Layout: Separate, Dim: 1 << 29, Sparsity: 1, Slots: 64}, "slots"},
	} {
		_, err := NewHashFamily(c.name, c.shape, [32]byte{})
		p, ok := err.(*fl.ParamError)
		if !ok || p.Param != c.param {
			t.Errorf("%s %+v: error %v, want a ParamError for %s", c.name, c.shape, err, c.param)
		}
	}
}

// Shapes with enough labels for additions to be collected, and a spectrum whose numbers need the
// transform in 64 bits or take it in halves: a tally agrees with the function at some coordinates.
func TestTalliesOfManyLabelsCountWhatTheFunctionSays(t *testing.T) {
	for _, shape := range []HashShape{
		{Layout: Paired, Dim: 1 << 17, Sparsity: 64, Slots: 1 << 12},
		{Layout: Separate, Dim: 1 << 17, Sparsity: 64, Slots: 1 << 12},
		{Layout: Paired, Dim: 1 << 18, Sparsity: 8, Slots: 32},
		{Layout: Separate, Dim: 1 << 18, Sparsity: 8, Slots: 32},
	} {
		family := newFamily(t, HashGF2, shape, [32]byte{6})
		tally, first, h := family.NewTally(), family.NewTally(), family.Func()
		const some = 40 // coordinates
		var want [2][some]int32
		for seed := range uint32(20_000) {
			h.Bind(seed)
			// The slot of an item, so that there is something to count.
			slot := shape.Layout.Item(h, seed%some, 1-2*int8(seed&1))
			if seed < 500 {
				first.Add(seed, slot)
			} else {
				tally.Add(seed, slot)
			}
			for j := range uint32(some) {
				for i, sign := range []int8{1, -1} {
					if shape.Layout.Item(h, j, sign) == slot {
						want[i][j]++
					}
				}
			}
		}
		if err := tally.Merge(first); err != nil {
			t.Fatal(err)
		}
		plus, minus := tally.Counts()
		if !slices.Equal(plus[:some], want[0][:]) || !slices.Equal(minus[:some], want[1][:]) {
			t.Errorf("%+v: counts\n%v %v, want\n%v", shape, plus[:some], minus[:some], want)
		}
	}
}

// One transform for both spectra has the counts of two.
func TestLargeSpectraAreTransformedOneByOne(t *testing.T) {
	tally := newFamily(t, HashGF2, shapes[0], [32]byte{4}).NewTally().(*spectrumTally)
	for seed := range uint32(300) {
		tally.Add(seed, seed%8)
	}
	plus, minus := tally.Counts()
	const times = 7_000_000 // 300 of them fit 32 bits, as place 0 has, and all of a spectrum do not
	for _, s := range tally.spectra {
		for place := range uint32(len(s.low)) {
			s.put(place, (times-1)*s.at(place))
		}
	}
	if tally.spectra[0].magnitude() <= math.MaxInt32 {
		t.Fatalf("magnitude %d", tally.spectra[0].magnitude())
	}
	morePlus, moreMinus := tally.Counts()
	for j := range plus {
		if morePlus[j] != times*plus[j] || moreMinus[j] != times*minus[j] {
			t.Fatalf("coordinate %d: %d and %d, want %d times %d and %d", j, morePlus[j], moreMinus[j], times, plus[j], minus[j])
		}
	}
}
