package fl

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestBoundsAreRoundedToTheirSide(t *testing.T) {
	for _, c := range []struct {
		x            float64
		digits       int
		above, below string
	}{
		{4.503, 3, "4.51", "4.5"}, {135.09, 3, "136", "135"}, {0.0339, 3, "0.0339", "0.0339"}, {1.3, 3, "1.3", "1.3"},
		{math.E, 3, "2.72", "2.71"}, {90.017, 3, "90.1", "90"}, {2980.96, 3, "2990", "2980"}, {9.9999, 3, "10", "9.99"},
		{0.98661, 4, "0.9867", "0.9866"}, {0.98664, 4, "0.9867", "0.9866"}, {4, 4, "4", "4"}, {0.1 + 0.2, 4, "0.3", "0.3"},
		{1e-6, 3, "1e-06", "1e-06"}, {1.0001e-6, 3, "1.01e-06", "1e-06"}, {7, 1, "7", "7"}, {7.5, 1, "8", "7"},
		{0, 3, "0", "0"}, {math.Inf(1), 3, "+Inf", "+Inf"}, {math.NaN(), 3, "NaN", "NaN"},
	} {
		if above, below := FormatUp(c.x, c.digits), FormatDown(c.x, c.digits); above != c.above || below != c.below {
			t.Errorf("%v with %d digits: %s and %s, want %s and %s", c.x, c.digits, above, below, c.above, c.below)
		}
	}
}

// Whatever the number, its bounds are on their sides and one unit of the last digit apart.
func TestBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x, digits := math.Exp(60*r.Float64()-30), 1+r.IntN(15)
		above, _ := strconv.ParseFloat(FormatUp(x, digits), 64)
		below, _ := strconv.ParseFloat(FormatDown(x, digits), 64)
		unit := math.Pow(10, 1-float64(digits)) // relative, at most
		if above < x*(1-boundSlack) || below > x*(1+boundSlack) || above-below > 1.01*unit*x+boundSlack*x {
			t.Fatalf("%v with %d digits is in [%v, %v]", x, digits, below, above)
		}
	}
}
