package rounded

import (
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/internal/table"
)

// The probabilities of magnitudes, computed independently by mpmath 1.3 with 60 digits:
// exp(−(m+½)²/2^18) summed term by term, and its integral by quadrature.
func TestWeights(t *testing.T) {
	points := densities()
	cells := make([]*big.Float, len(points))
	for m, f := range points {
		cells[m] = integral(f, m)
	}
	for name, c := range map[string]struct {
		weights []*big.Float
		want    map[int]string
	}{
		"points": {points, map[int]string{
			0:    "0.002203863458964443113873779432795080641515",
			1:    "0.002203846644884762374183837529624121609478",
			361:  "0.00133870090499823561638443368747737122987",
			1000: "0.00004839784335723829479770999973921170308902",
			4000: "6.750350366464779655229906550034814672339e-30",
			4095: "3.590241755999313403494926336407635246631e-31",
		}},
		"cells": {cells, map[int]string{
			0:    "0.002203862758376653927827528464638998539813",
			1:    "0.002203845944313008285462672959017684594098",
			361:  "0.001338700903732723588755935891070256851352",
			1000: "0.00004839794546962950613987229927372570243224",
			4000: "6.750610237049123946427797483406834654104e-30",
			4095: "3.590386668038746582292914033873676694042e-31",
		}},
	} {
		u := units(c.weights)
		sum := new(big.Int)
		for _, w := range u {
			sum.Add(sum, w)
		}
		if sum.Cmp(new(big.Int).Lsh(big.NewInt(1), table.TotalBits)) != 0 {
			t.Errorf("%s: the sum is %d", name, sum)
		}
		for m, text := range c.want {
			want, _, err := big.ParseFloat(text, 10, precision, big.ToNearestEven)
			if err != nil {
				t.Fatal(err)
			}
			got := number(0).SetMantExp(number(0).SetInt(u[m]), -table.TotalBits)
			off := number(0).Quo(number(0).Sub(got, want), want)
			limit := 0x1p-110
			if m >= 4000 { // fewer bits are left after rounding to multiples of 2^-159
				limit = 0x1p-57
			}
			if d, _ := off.Float64(); !(math.Abs(d) < limit) {
				t.Errorf("%s: P[%d] = %.40g, off by %g of itself", name, m, got, d)
			}
		}
	}
}
