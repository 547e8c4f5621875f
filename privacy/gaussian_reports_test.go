package privacy

import (
	"math"
	"testing"
)

// k reports of Gaussian noise compose to one with 1/√k of the noise multiplier, and to little more for the noise's law.
func TestGaussianReportsComposeExactly(t *testing.T) {
	const delta = 1e-6
	for _, k := range []int{1, 30, 1000} {
		const sigma = 40
		all, err := Compose(t.Context(), GaussianReports(sigma, k), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := all.Epsilon(t.Context(), delta)
		if err != nil {
			t.Fatal(err)
		}
		g := gaussian{math.Sqrt(float64(k)) / sigma}
		exact := func(epsilon float64) float64 {
			d, err := g.delta(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		if exact(got.Upper) > delta || exact(got.Upper*(1-1e-4)) < delta {
			t.Errorf("%d reports: ε = %g, δ there is %g, and %g a little below", k, got.Upper, exact(got.Upper), exact(got.Upper*(1-1e-4)))
		}
	}
}
