package hdsum

import (
	"errors"
	"math"
	"math/bits"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/bbgn"
	"github.com/hushgrad/hushgrad/hdsum/internal/gkmps"
)

// gkmpsBits is the expected number of bits of a client's noise messages with the
// constants of GKMPS, Theorem 2, without the atoms below −⌈U'/2⌉, worked out
// from the paper: means R/(e^η − 1), ⌈log2 U'⌉ + 1 bits each.
func gkmpsBits(c Config, bound int64, rounding bool) (width, total float64) {
	width = 1
	if rounding {
		width = math.Ceil(float64(bound) / math.Sqrt(float64(c.Clients)/min(0.1, 0.1/c.Epsilon)))
	}
	u := math.Ceil(float64(bound) / width)
	logU := math.Ceil(math.Log2(u))
	flood, logDelta := min(1, 0.1*c.Epsilon), math.Log(c.Delta)
	mean := func(r, eta float64) float64 { return r / math.Expm1(eta) }
	sum := 2 * mean(1, 0.9*c.Epsilon/u)
	if u == 1 {
		sum += 2 * mean(3*(1-logDelta), 0.2*flood)
	} else {
		flood /= 2
		logDelta -= math.Ln2
		sum += 2 * mean(3*(1-logDelta), 0.2*flood/u)
		columns := 2.0
		if c.Relation == fl.ZeroOut {
			columns = 1
		}
		gamma := u * (logU + 1)
		r := 3 * (1 + math.Log(2*u-1) - logDelta)
		for i := -math.Ceil(u / 2); i <= u; i++ {
			size, length := math.Abs(i), 3.0
			if i == 1 {
				length = 2 // {−1, +1}
			} else if size < 2 {
				continue
			}
			sum += length * mean(r, 0.2*flood/(columns*math.Ceil(gamma/size)))
		}
	}
	return width, sum / float64(c.Clients) * (logU + 1)
}

// bbgnBits is m·⌈log2 q⌉ with q = nU + 2T + 1 and T = ⌈(U/ε)·ln 2^41⌉.
func bbgnBits(t *testing.T, c Config, bound int64) float64 {
	t.Helper()
	slack := uint64(math.Ceil(float64(bound) / c.Epsilon * 41 * math.Ln2))
	q := uint64(c.Clients)*uint64(bound) + 2*slack + 1
	m, err := bbgn.Messages(c.Clients, q, c.Epsilon, c.Delta)
	if err != nil {
		t.Fatal(err)
	}
	return float64(m * bits.Len64(q-1))
}

// Auto is the cheapest of BBGN, GKMPS and GKMPS with rounding, in bits. GKMPS is the
// cheaper of GKMPS with rounding and without.
func TestTheCheapestProtocolIsChosen(t *testing.T) {
	seen := map[string]int{}
	for _, base := range []Protocol{Auto, GKMPS} {
		for _, clients := range []int{50, 1000, 100_000, 10_000_000} {
			for _, epsilon := range []float64{0.5, 1, 10} {
				for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
					for _, bound := range []int64{1, 2, 3, 4, 8, 13, 64, 1000, 20_000} {
						c := Config{Clients: clients, Epsilon: epsilon, Delta: 1e-12, Relation: relation, Base: base}
						seen[requireCheapest(t, c, bound)]++
					}
				}
			}
		}
	}
	if seen["auto bbgn"] == 0 || seen["auto gkmps"] == 0 || seen["gkmps gkmps rounded"] == 0 || seen["gkmps gkmps"] == 0 {
		t.Errorf("some protocol is never the cheapest: %v", seen)
	}
}

func requireCheapest(t *testing.T, c Config, bound int64) string {
	t.Helper()
	got, err := newNoisySum(c, bound)
	if err != nil {
		t.Fatal(err)
	}
	want, least := "", math.Inf(1)
	if c.Base == Auto {
		want, least = "bbgn", bbgnBits(t, c, bound)
	}
	for _, rounding := range []bool{false, true} {
		width, bits := gkmpsBits(c, bound, rounding)
		if bits < least*(1-1e-9) {
			if want, least = "gkmps", bits; width > 1 {
				want = "gkmps rounded"
			}
		}
	}
	name := got.protocol().String()
	if got.Width() > 1 {
		name += " rounded"
	}
	if name != want {
		t.Errorf("%+v, bound %d: chose %s, the cheapest is %s", c, bound, name, want)
	}
	if bits := got.cost().Bits; math.Abs(bits-least) > 1e-6*least {
		t.Errorf("%+v, bound %d: %g bits, want %g", c, bound, bits, least)
	}
	return c.Base.String() + " " + name
}

// The setting of the paper's Table 3 (ε = 1, δ = 1e-12, SumDP): GKMPS is worth its
// messages for small sub-domains only.
func TestAutoInTheSettingOfTheTable(t *testing.T) {
	for calibration, last := range map[Calibration]int64{CalibrationCertified: 8, CalibrationTight: 16} {
		c := Config{Clients: 100_000, Epsilon: 1, Delta: 1e-12, Relation: fl.ZeroOut, Calibration: calibration}
		s, err := NewSumDP(c, 100_000, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		for j, bound := range s.domains.bounds {
			want := BBGN
			if bound <= last {
				want = GKMPS
			}
			if got := s.groups[j].sum.protocol(); got != want {
				t.Errorf("%s: %s at bound %d", calibration, got, bound)
			}
		}
	}
}

// GKMPS beyond its limits leaves BBGN to Auto and is an error when asked for.
func TestAutoDoesWithoutGKMPS(t *testing.T) {
	c := Config{Clients: 1_000_000_000_000, Epsilon: 1e-4, Delta: 1e-9, Relation: fl.ZeroOut, Base: GKMPS}
	if _, err := newNoisySum(c, 1<<18); !errors.Is(err, gkmps.ErrLimit) {
		t.Fatalf("gkmps: error %v", err)
	}
	c.Base = Auto
	b, err := newNoisySum(c, 1<<18)
	if err != nil {
		t.Fatal(err)
	}
	if b.protocol() != BBGN {
		t.Errorf("chose %s", b.protocol())
	}
}

func TestConfigsAreChecked(t *testing.T) {
	good := Config{Clients: 100, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne}
	for _, base := range []Protocol{Auto, GKMPS, BBGN} {
		for what, mutate := range map[string]func(*Config){
			"no clients": func(c *Config) { c.Clients = 0 },
			"epsilon":    func(c *Config) { c.Epsilon = math.NaN() },
			"infinite":   func(c *Config) { c.Epsilon = math.Inf(1) },
			"delta 0":    func(c *Config) { c.Delta = 0 },
			"delta 1":    func(c *Config) { c.Delta = 1 },
		} {
			c := good
			c.Base = base
			mutate(&c)
			var p *fl.ParamError
			if _, err := NewBaseSum(c, 10); !errors.As(err, &p) {
				t.Errorf("%s, %s: error %v", base, what, err)
			}
		}
		c := good
		c.Base = base
		if _, err := NewBaseSum(c, 0); !isParam(err, "bound") {
			t.Errorf("%s, bound 0: error %v", base, err)
		}
	}
	good.Base = 3
	if _, err := NewBaseSum(good, 10); !isParam(err, "base") {
		t.Errorf("an unknown base: %v", err)
	}
}
