package sample

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// probability returns exactly what the table gives an index, times n·2^64.
func (a *Alias) probability(i int) *big.Int {
	full := new(big.Int).Lsh(big.NewInt(1), 64)
	sum := new(big.Int)
	for j, c := range a.columns {
		own := new(big.Int).SetUint64(c.own)
		if j == i {
			sum.Add(sum, own)
		}
		if int(c.other) == i {
			sum.Add(sum, own.Sub(full, own))
		}
	}
	return sum
}

func aliasWeights() map[string][]float64 {
	rng := newRand()
	random := make([]float64, 300)
	for i := range random {
		random[i] = math.Exp(20 * normal(rng))
	}
	return map[string][]float64{
		"one":       {3},
		"equal":     {1, 1, 1, 1},
		"three":     {1, 1, 1},
		"zeros":     {0, 2, 0, 5, 0},
		"extremes":  {5e-324, math.MaxFloat64, 1, math.MaxFloat64},
		"subnormal": {5e-324, 1.5e-323},
		"random":    random,
	}
}

func TestAliasTableHasTheWeights(t *testing.T) {
	for name, weights := range aliasWeights() {
		a, err := NewAlias(weights)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(a.columns) != len(weights) {
			t.Errorf("%s: %d columns, want %d", name, len(a.columns), len(weights))
		}
		n := float64(len(weights))
		sum := new(big.Float).SetPrec(2200)
		largest := 0.
		for _, w := range weights {
			sum.Add(sum, big.NewFloat(w))
			largest = max(largest, w)
		}
		for i, w := range weights {
			p := new(big.Float).SetPrec(2200).SetInt(a.probability(i))
			p.Quo(p.SetMantExp(p, -64), big.NewFloat(n))
			exact := new(big.Float).SetPrec(2200).Quo(big.NewFloat(w), sum)
			want, _ := exact.Float64()
			off, _ := p.Sub(p, exact).Float64()
			limit := 0x1p-50*want + 0x1p-62
			if w == largest {
				limit = 0x1p-50 + n*0x1p-62
			}
			if w == 0 {
				limit = 0
			}
			if math.Abs(off) > limit {
				t.Errorf("%s: weight %d is off by %g, at most %g", name, i, off, limit)
			}
		}
	}
}

// Sharing out loses nothing: every index has exactly its units.
func TestAliasTableIsExactAfterRounding(t *testing.T) {
	const s = 55
	units := roundWeights(aliasWeights()["random"][:200], 1, 200<<s)
	a := &Alias{columns: shareOut(append([]uint64(nil), units...), s)}
	for i, u := range units {
		want := new(big.Int).Lsh(new(big.Int).SetUint64(u), 64-s)
		if got := a.probability(i); got.Cmp(want) != 0 {
			t.Errorf("index %d has %v, want %v", i, got, want)
		}
	}
}

func TestAliasDrawsFollowTheWeights(t *testing.T) {
	rng := newRand()
	for name, weights := range map[string][]float64{"ramp": {1, 2, 3, 4, 5, 6, 7}, "zeros": {0, 2, 0, 5, 0}, "one large": {1, 1, 30, 1}} {
		a, err := NewAlias(weights)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]float64, len(weights))
		total := 0.
		for _, w := range weights {
			total += w
		}
		for range draws {
			counts[a.Rand(rng)]++
		}
		var got, want []float64
		for i, w := range weights {
			if w == 0 {
				if counts[i] > 0 {
					t.Errorf("%s: index %d of weight 0 was drawn", name, i)
				}
				continue
			}
			got, want = append(got, counts[i]), append(want, draws*w/total)
		}
		requireCounts(t, name, got, want)
	}
}

func TestAliasRefusesBadWeights(t *testing.T) {
	for param, weights := range map[string][]float64{
		"len(weights)": nil,
		"weights":      {0, 0},
		"weights[0]":   {-1, 2},
		"weights[1]":   {1, math.NaN()},
		"weights[2]":   {1, 1, math.Inf(1)},
	} {
		_, err := NewAlias(weights)
		var invalid *fl.ParamError
		if !errors.As(err, &invalid) || invalid.Param != param {
			t.Errorf("weights %v: got %v, want an error that names %s", weights, err, param)
		}
	}
	if a, err := NewAlias([]float64{1, 2}); err != nil || fmt.Sprint(len(a.columns)) != "2" {
		t.Errorf("good weights: %v", err)
	}
}
