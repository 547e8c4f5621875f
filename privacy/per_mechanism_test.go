package privacy

import (
	"errors"
	"strings"

	"github.com/hushgrad/hushgrad/fl"

	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/internal/root"
)

func TestEpsilonAtInvertsDeltaAt(t *testing.T) {
	for _, h := range []Homogeneous{
		{0.1, 0, 1}, {1, 1e-9, 7}, {0.01, 1e-12, 1000}, {20, 1e-15, 30}, {1e-9, 0, 10_000_000}, {0.001, 1e-15, 1_000_000},
	} {
		for _, delta := range []float64{1e-8, 1e-6, 1e-3, 0.5} {
			got, err := h.EpsilonAt(delta)
			if err != nil {
				t.Fatal(err)
			}
			if d := mustDeltaAt(t, h, got); d > delta {
				t.Errorf("%+v: δ at EpsilonAt(%v) = %v is %v", h, delta, got, d)
			}
			if got == 0 {
				continue
			}
			if d := mustDeltaAt(t, h, got*(1-2*root.Tolerance)); d <= delta {
				t.Errorf("%+v: EpsilonAt(%v) = %v is not the smallest: just below δ is %v", h, delta, got, d)
			}
		}
	}
}

// What is spent outright is found sufficient, and gives basic composition; a little less is an error.
func TestEpsilonAtTheLeastDelta(t *testing.T) {
	for _, c := range []struct {
		h     Homogeneous
		delta float64
	}{{Homogeneous{0.3, 0, 9}, 0}, {Homogeneous{0.3, 1e-6, 1}, 1e-6}, {Homogeneous{0.7, 1e-6 / 300, 300}, 1e-6 / 300 * 300}} {
		basic := c.h.Epsilon * float64(c.h.Count)
		got, err := c.h.EpsilonAt(c.delta)
		// With many mechanisms, all but a few answer truthfully at most: at δ of 10^-9 that is less.
		if err != nil || got > math.Nextafter(basic, 100) || c.h.Count == 1 && got != basic || c.delta == 0 && got < basic {
			t.Errorf("%+v: EpsilonAt(%v) = %v, %v, want at most %v", c.h, c.delta, got, err, basic)
		}
	}
	if got, err := (Homogeneous{1, 1e-3, 2}).EpsilonAt(1.998e-3); err == nil {
		t.Errorf("δ below 1-(1-10^-3)^2: got %v", got)
	}
}

func TestPerMechanismInverts(t *testing.T) {
	for _, count := range []int{1, 2, 17, 8192, 1_000_000} {
		last := math.Inf(1)
		for _, epsilon := range []float64{8, 1, 0.1} {
			for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
				each := delta / float64(4*count)
				got, err := PerMechanism(epsilon, delta, each, count)
				if err != nil {
					t.Fatal(err)
				}
				if got*float64(count) < epsilon*(1-2*root.Tolerance) {
					t.Errorf("k=%d (%v, %v): ε' = %v, below basic composition", count, epsilon, delta, got)
				}
				if d := mustDeltaAt(t, Homogeneous{got, each, count}, epsilon); d > delta {
					t.Errorf("k=%d (%v, %v): ε' = %v has δ = %v", count, epsilon, delta, got, d)
				}
				if d := mustDeltaAt(t, Homogeneous{got * (1 + 2*root.Tolerance), each, count}, epsilon); d <= delta {
					t.Errorf("k=%d (%v, %v): ε' = %v is not the largest: just above δ is %v", count, epsilon, delta, got, d)
				}
				if got >= last {
					t.Errorf("k=%d (%v, %v): ε' = %v, not below %v of a larger budget", count, epsilon, delta, got, last)
				}
				last = got
				if less, err := PerMechanism(epsilon, delta, 2*each, count); err != nil || less > got*(1+2*root.Tolerance) {
					t.Errorf("k=%d (%v, %v): ε' grows from %v to %v with δ' (%v)", count, epsilon, delta, got, less, err)
				}
			}
			last = math.Inf(1)
		}
	}
}

// The rule of thumb of Dwork, Rothblum and Vadhan, ε' = ε/(2√(2k·ln(2/δ))) for ε <= 1 and δ' = δ/(2k),
// is never better.
func TestPerMechanismBeatsTheRuleOfThumb(t *testing.T) {
	for _, count := range []int{1, 4, 100, 16384} {
		for _, delta := range []float64{1e-5, 1e-9} {
			rule := 1 / (2 * math.Sqrt(2*float64(count)*math.Log(2/delta)))
			got, err := PerMechanism(1, delta, delta/float64(2*count), count)
			if err != nil || got < rule {
				t.Errorf("k=%d δ=%v: ε' = %v, %v, rule of thumb %v", count, delta, got, err, rule)
			}
		}
	}
}

func TestPerMechanismHasALimit(t *testing.T) {
	for _, c := range []struct{ epsilon, delta float64 }{{20, 0.5}, {21, 1e-9}, {1e300, 1e-9}, {19, 0.9}} {
		if got, err := PerMechanism(c.epsilon, c.delta, 0, 1); got != maxEach || err != nil {
			t.Errorf("%+v: got %v, %v, want %v", c, got, err, maxEach)
		}
	}
}

// Errors name the parameter at fault.
func TestHomogeneousRefusesBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := Homogeneous{1, 1e-6, 3}
	wantParam := func(what string, got float64, err error, param string) {
		t.Helper()
		var invalid *fl.ParamError
		if !errors.As(err, &invalid) || invalid.Param != param || !strings.HasPrefix(err.Error(), "compose: ") {
			t.Errorf("%s: got %v, %v, want an error about %s", what, got, err, param)
		}
	}
	for _, c := range []struct {
		h     Homogeneous
		param string
	}{
		{Homogeneous{-1, 0, 1}, "epsilonEach"}, {Homogeneous{nan, 0, 1}, "epsilonEach"}, {Homogeneous{inf, 0, 1}, "epsilonEach"},
		{Homogeneous{20.1, 0, 1}, "epsilonEach"}, {Homogeneous{1, -1e-9, 1}, "deltaEach"}, {Homogeneous{1, 1, 1}, "deltaEach"},
		{Homogeneous{1, nan, 1}, "deltaEach"}, {Homogeneous{1, inf, 1}, "deltaEach"}, {Homogeneous{1, 0, 0}, "count"},
		{Homogeneous{1, 0, -5}, "count"}, {Homogeneous{1, 0, MaxCount + 1}, "count"},
	} {
		what := fmt.Sprintf("%+v", c.h)
		got, err := c.h.DeltaAt(1)
		wantParam(what+".DeltaAt", got, err, c.param)
		got, err = c.h.EpsilonAt(0.5)
		wantParam(what+".EpsilonAt", got, err, c.param)
	}
	for _, x := range []float64{-1, nan, inf} {
		got, err := good.DeltaAt(x)
		wantParam(fmt.Sprintf("DeltaAt(%v)", x), got, err, "epsilon")
		got, err = PerMechanism(x, 0.1, 0, 3)
		wantParam(fmt.Sprintf("PerMechanism(%v)", x), got, err, "epsilon")
	}
	for _, x := range []float64{-1, 1, nan, inf} {
		got, err := good.EpsilonAt(x)
		wantParam(fmt.Sprintf("EpsilonAt(%v)", x), got, err, "delta")
		got, err = PerMechanism(1, x, 0, 3)
		wantParam(fmt.Sprintf("PerMechanism with delta %v", x), got, err, "delta")
	}
	for _, c := range []struct {
		epsilon, delta, each float64
		count                int
		param                string
	}{
		{0, 0.1, 0, 3, "epsilon"}, {1, 0, 0, 3, "delta"}, {1, 0.1, nan, 3, "deltaEach"}, {1, 0.1, -0.1, 3, "deltaEach"},
		{1, 0.1, 0.1, 1, "delta"}, {1, 0.1, 0.05, 3, "delta"}, {1, 0.1, 0, 0, "count"}, {1, 0.1, 0, MaxCount + 1, "count"},
	} {
		got, err := PerMechanism(c.epsilon, c.delta, c.each, c.count)
		wantParam(fmt.Sprintf("PerMechanism%+v", c), got, err, c.param)
	}
}

func BenchmarkHomogeneous(b *testing.B) {
	for _, count := range []int{1000, 1_000_000, 10_000_000} {
		h := Homogeneous{1 / math.Sqrt(float64(count)), 1e-15, count}
		b.Run(fmt.Sprintf("do=DeltaAt/k=%d", count), func(b *testing.B) {
			for b.Loop() {
				mustDeltaAt(b, h, 1)
			}
		})
		b.Run(fmt.Sprintf("do=PerMechanism/k=%d", count), func(b *testing.B) {
			for b.Loop() {
				if _, err := PerMechanism(1, 1e-6, 1e-15, count); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
