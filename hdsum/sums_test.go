package hdsum

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// valid is a multiset that mixedLayout takes: m shares for each of the instances 3
// and 4 of BBGN.
func valid(l *layout) Multiset {
	m := Multiset{{0, -3, 1}, {0, 3, 2}, {2, 1, maxCount}}
	shares := int64(l.groups[1].sum.(bbgnSum).Messages())
	m = append(m, Message{3, 0, 1}, Message{3, 7, shares - 1}, Message{4, 1, shares})
	return append(m, Message{5, -1, 1}, Message{6, 1, 1})
}

// Whatever no client sends is refused as a bad report, and nothing changes.
func TestSumsRefuseBadMultisets(t *testing.T) {
	l := mixedLayout(t)
	b := l.groups[1].sum.(bbgnSum)
	q, shares := int64(b.Modulus()), int64(b.Messages())
	sums := l.NewSums()
	if err := sums.Add(valid(l)); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(sums.values)
	for what, mutate := range map[string]func(Multiset) Multiset{
		"nothing":                  func(Multiset) Multiset { return nil },
		"value 0":                  func(m Multiset) Multiset { m[1].Value = 0; return m },
		"value above U'":           func(m Multiset) Multiset { m[1].Value = 4; return m },
		"value below -U'":          func(m Multiset) Multiset { m[0].Value = -4; return m },
		"least value":              func(m Multiset) Multiset { m[0].Value = math.MinInt64; return m },
		"count 0":                  func(m Multiset) Multiset { m[0].Count = 0; return m },
		"negative count":           func(m Multiset) Multiset { m[1].Count = -1; return m },
		"count above the limit":    func(m Multiset) Multiset { m[2].Count = maxCount + 1; return m },
		"share q":                  func(m Multiset) Multiset { m[4].Value = q; return m },
		"negative share":           func(m Multiset) Multiset { m[3].Value = -1; return m },
		"a share too few":          func(m Multiset) Multiset { m[4].Count--; return m },
		"a share too many":         func(m Multiset) Multiset { m[4].Count++; return m },
		"counts that overflow":     func(m Multiset) Multiset { m[3].Count, m[4].Count = math.MaxInt64, math.MaxInt64; return m },
		"negative count of shares": func(m Multiset) Multiset { m[3].Count, m[4].Count = -1, shares+1; return m },
		"shares of one missing":    func(m Multiset) Multiset { return slices.Delete(m, 5, 6) },
		"shares swapped":           func(m Multiset) Multiset { m[5].Instance = 3; return m },
		"unknown instance":         func(m Multiset) Multiset { m[7].Instance = 7; return m },
		"last instance":            func(m Multiset) Multiset { m[7].Instance = math.MaxUint32; return m },
		"order of values":          func(m Multiset) Multiset { m[0], m[1] = m[1], m[0]; return m },
		"order of instances":       func(m Multiset) Multiset { m[6], m[7] = m[7], m[6]; return m },
		"order of shares":          func(m Multiset) Multiset { m[3], m[4] = m[4], m[3]; return m },
		"an entry twice":           func(m Multiset) Multiset { return slices.Insert(m, 1, m[0]) },
		"a stray behind shares":    func(m Multiset) Multiset { return slices.Insert(m, 6, Message{0, 1, math.MaxInt64}) },
	} {
		m := mutate(valid(l))
		if err := sums.Add(m); !errors.Is(err, fl.ErrBadReport) {
			t.Errorf("%s: error %v", what, err)
		}
		if !slices.Equal(sums.values, before) {
			t.Fatalf("%s: the sums changed", what)
		}
	}
}

// Sums are the sums of the entries: integers with GKMPS, residues with BBGN.
func TestSumsAddUp(t *testing.T) {
	l := mixedLayout(t)
	b := l.groups[1].sum.(bbgnSum)
	q, shares := int64(b.Modulus()), int64(b.Messages())
	sums := l.NewSums()
	const times = 1000
	for range times {
		if err := sums.Add(valid(l)); err != nil {
			t.Fatal(err)
		}
	}
	want := []int64{3 * times, 0, maxCount * times, 7 * (shares - 1) * times % q, shares * times % q, -times, times}
	if !slices.Equal(sums.values, want) {
		t.Errorf("got %v, want %v", sums.values, want)
	}
	decoded := decoded(t, sums)
	for k, v := range want {
		decode := float64(v)
		if k == 3 || k == 4 {
			decode = float64(b.Decode(uint64(v)))
		}
		if decoded[k] != decode {
			t.Errorf("instance %d: decoded %g, want %g", k, decoded[k], decode)
		}
	}
}

func TestMergeAddsAndLeavesTheOther(t *testing.T) {
	l := mixedLayout(t)
	rng := newRand(20)
	whole, left, right := l.NewSums(), l.NewSums(), l.NewSums()
	for i := range 20 {
		m, err := l.encode([]input{{0, 0, 2}, {1, 1, int64(i % 6)}}, rng)
		if err != nil {
			t.Fatal(err)
		}
		part := left
		if i%3 == 0 {
			part = right
		}
		if err := errors.Join(whole.Add(m), part.Add(m)); err != nil {
			t.Fatal(err)
		}
	}
	kept := slices.Clone(right.values)
	if err := left.Merge(right); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(left.values, whole.values) || !slices.Equal(right.values, kept) {
		t.Errorf("merged %v, want %v; the other became %v, was %v", left.values, whole.values, right.values, kept)
	}
	if err := left.Merge(mixedLayout(t).NewSums()); !isParam(err, "sums") {
		t.Errorf("merge with another protocol: %v", err)
	}
	if !slices.Equal(left.values, whole.values) {
		t.Error("a refused merge changed the sums")
	}
}

func TestResiduesAreChecked(t *testing.T) {
	l := mixedLayout(t)
	q := int64(l.groups[1].sum.(bbgnSum).Modulus())
	for k, c := range map[int]struct {
		value int64
		good  bool
	}{3: {q, false}, 4: {-1, false}, 0: {-1, true}, 5: {math.MinInt64, true}} {
		sums := l.NewSums()
		sums.values[k] = c.value
		if err := sums.check(); (err == nil) != c.good {
			t.Errorf("instance %d: %d: error %v", k, c.value, err)
		}
	}
	sums := l.NewSums()
	sums.values[3] = q - 1
	if err := sums.check(); err != nil {
		t.Error(err)
	}
}
