package privacy

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/internal/binomial"
)

// The table against the defining sum, at integers, between them and beyond the end.
func TestShortfall(t *testing.T) {
	for _, c := range []struct {
		n          int
		p, tiltedP float64
	}{{0, 0.3, 0.2}, {1, 0.5, 0.5}, {50, 0.3, 0.2}, {2000, 0.25, 0.2}, {2000, 0, 0}, {5000, 0x1p-10, 0x1p-11}} {
		var s shortfall
		s.fill(c.n, c.p, 1-c.p, c.tiltedP, 1-c.tiltedP, 0)
		mean := float64(c.n) * c.p
		first, last := int(math.Round(s.base+mean)), int(math.Round(s.top+mean))
		if len(s.values) != last-first+1 {
			t.Fatalf("%+v: %d entries for [%d, %d]", c, len(s.values), first, last)
		}
		for _, y := range []float64{0.25, 0.5, 1, 1.75, float64(last-first) / 3, float64(last - first), float64(last-first) + 2.5} {
			if y <= 0 {
				continue
			}
			want, mass := 0.0, 0.0
			for r := first; r <= last; r++ {
				point := binomial.PMF(r, c.n, c.p, 1-c.p)
				want += point * math.Max(0, float64(first)+y-float64(r))
				mass += point
			}
			if beyond := y - float64(last-first); beyond > 0 {
				want += (1 - mass) * beyond // all mass counts there
			}
			if got := s.at(y); math.Abs(got-want) > 2e-12*want {
				t.Errorf("%+v: at(%v): got %v, want %v", c, y, got, want)
			}
		}
		spill := 0.0
		for r := last + 1; r <= c.n; r++ {
			spill += binomial.PMF(r, c.n, c.p, 1-c.p) * float64(r-last)
		}
		if s.spill < spill || s.spill > 1e-13 {
			t.Errorf("%+v: spill %v, exact %v", c, s.spill, spill)
		}
	}
}
