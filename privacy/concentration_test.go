package privacy

import (
	"math"
	"testing"
)

// References computed independently in Python at n = 10^4, δ = 10^-6: the sum over N term by
// term, and the loss of a mechanism listed slot by slot. The sum leaves out N = 0, which
// moves these by less than 10^-9.
func TestBalleReference(t *testing.T) {
	for _, c := range []struct {
		name               string
		losses             blanketLosses
		hoeffding, bennett float64
	}{
		{"any", genericLosses(0.5), 0.05399556724797241, 0.09065318233271426},
		{"any", genericLosses(2), 1.0170822214783946, 0.5175010070807051},
		{"binary randomized response", slottedLosses(1, 1, 2), 0.05066655202201522, 0.05123650086852336},
		{"10-ary randomized response", slottedLosses(1, 1, 10), 0.06469879717816378, 0.02803971413480103},
		{"s=4 t=17", slottedLosses(1, 4, 17), 0.058785657683270924, 0.03994822494686876},
		{"s=4 t=36", slottedLosses(2, 4, 36), 0.21313734646730464, 0.09814964912370798},
		{"s=3 t=5", slottedLosses(1, 3, 5), 0.04834807674474123, 0.04351193262331782},
	} {
		for _, curve := range []struct {
			c    Comparison
			want float64
		}{{hoeffding("Hoeffding", c.losses), c.hoeffding}, {bennett("Bennett", c.losses), c.bennett}} {
			got, err := curve.c.Curve(10_000, 1e-6)
			if err != nil || math.Abs(got/curve.want-1) > 1e-9 {
				t.Errorf("%s, %s: got %v, want %v (off by %.2g), error %v", curve.c.Name, c.name, got, curve.want, got/curve.want-1, err)
			}
		}
	}
}

// For k-ary randomized response the moments are those that Balle et al. give for it.
func TestSlottedLossesOfRandomizedResponse(t *testing.T) {
	for _, k := range []int{2, 3, 50} {
		for _, epsilon := range []float64{0.1, 1, 4} {
			l := slottedLosses(epsilon, 1, k)
			e, m := math.Exp(epsilon), float64(k)
			gamma := m / (e + m - 1)
			for _, q := range []float64{1, 1.01, (1 + e) / 2} {
				largest, spread, square := l.at(q)
				for _, v := range [][2]float64{
					{l.gamma, gamma},
					{largest, gamma*(1-q) + (1-gamma)*m},
					{spread, (1 - gamma) * m * (q + 1)},
					{square, gamma*(2-gamma)*(q-1)*(q-1) + (1-gamma)*(1-gamma)*m*(q*q+1)},
				} {
					if math.Abs(v[0]/v[1]-1) > 1e-12 {
						t.Errorf("k=%d eps=%v q=%v: got %v, want %v", k, epsilon, q, v[0], v[1])
					}
				}
			}
		}
	}
}

// φ against its series to u^5/20, whose next term is below u^6/30.
func TestBennettPhi(t *testing.T) {
	for _, u := range []float64{0, 1e-300, 1e-9, 1e-5, 0.99e-4, 1.01e-4, 1e-3, 1e-2} {
		want := u * u * (1./2 - u*(1./6-u*(1./12-u/20)))
		if got := bennettPhi(u); math.Abs(got-want) > want*1e-8 {
			t.Errorf("φ(%v) = %v, want %v", u, got, want)
		}
	}
	if got, want := bennettPhi(math.E-1), 1.0; math.Abs(got-want) > 1e-14 {
		t.Errorf("φ(e−1) = %v, want 1", got)
	}
}
