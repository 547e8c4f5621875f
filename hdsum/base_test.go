package hdsum

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/bbgn"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
)

// gkmpsBits is the expected number of bits of a client's noise messages with the
// constants of GKMPS, Theorem 2, without the atoms below −⌈U'/2⌉, worked out
// from the paper: means R/(e^η − 1), ⌈log2 U'⌉ + 1 bits each.
func gkmpsBits(c Config, rounding bool) (width, total float64) {
	width = 1
	if rounding {
		width = math.Ceil(float64(c.Bound) / math.Sqrt(float64(c.Clients)/min(0.1, 0.1/c.Epsilon)))
	}
	u := math.Ceil(float64(c.Bound) / width)
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
func bbgnBits(t *testing.T, c Config) float64 {
	t.Helper()
	slack := uint64(math.Ceil(float64(c.Bound) / c.Epsilon * 41 * math.Ln2))
	q := uint64(c.Clients)*uint64(c.Bound) + 2*slack + 1
	m, err := bbgn.Messages(c.Clients, q, c.Epsilon, c.Delta)
	if err != nil {
		t.Fatal(err)
	}
	return float64(m * bits.Len64(q-1))
}

// Auto is the cheapest of BBGN, GKMPS and GKMPS with rounding, in bits, and GKMPS
// the cheaper of the latter two.
func TestTheCheapestProtocolIsChosen(t *testing.T) {
	seen := map[string]int{}
	for _, base := range []Base{Auto, GKMPS} {
		for _, clients := range []int{50, 1000, 100_000, 10_000_000} {
			for _, epsilon := range []float64{0.5, 1, 10} {
				for _, relation := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
					for _, bound := range []int64{1, 2, 3, 4, 8, 13, 64, 1000, 20_000} {
						c := Config{Clients: clients, Bound: bound, Epsilon: epsilon, Delta: 1e-12, Relation: relation, Base: base}
						seen[requireCheapest(t, c)]++
					}
				}
			}
		}
	}
	if seen["auto bbgn"] == 0 || seen["auto gkmps"] == 0 || seen["gkmps gkmps rounded"] == 0 || seen["gkmps gkmps"] == 0 {
		t.Errorf("some protocol is never the cheapest: %v", seen)
	}
}

func requireCheapest(t *testing.T, c Config) string {
	t.Helper()
	got, err := newBase(c)
	if err != nil {
		t.Fatal(err)
	}
	want, least := "", math.Inf(1)
	if c.Base == Auto {
		want, least = "bbgn", bbgnBits(t, c)
	}
	for _, rounding := range []bool{false, true} {
		width, bits := gkmpsBits(c, rounding)
		if bits < least*(1-1e-9) {
			if want, least = "gkmps", bits; width > 1 {
				want = "gkmps rounded"
			}
		}
	}
	name := got.kind().String()
	if got.width() > 1 {
		name += " rounded"
	}
	if name != want {
		t.Errorf("%+v: chose %s, the cheapest is %s", c, name, want)
	}
	if bits := got.cost().Bits; math.Abs(bits-least) > 1e-6*least {
		t.Errorf("%+v: %g bits, want %g", c, bits, least)
	}
	return c.Base.String() + " " + name
}

// The setting of the paper's Table 3 (ε = 1, δ = 1e-12, SumDP): GKMPS is worth its
// messages for small sub-domains only.
func TestAutoInTheSettingOfTheTable(t *testing.T) {
	for calibration, last := range map[gkmps.Calibration]int64{gkmps.Certified: 8, gkmps.Tight: 16} {
		c := Config{Clients: 100_000, Bound: 100_000, Epsilon: 1, Delta: 1e-12, Relation: fl.ZeroOut, Calibration: calibration}
		s, err := NewSumDP(c, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Parts() {
			want := BBGN
			if p.Bound <= last {
				want = GKMPS
			}
			if p.Base != want {
				t.Errorf("%s: %s at bound %d", calibration, p.Base, p.Bound)
			}
		}
	}
}

// GKMPS beyond its limits leaves BBGN to Auto and is an error when asked for.
func TestAutoDoesWithoutGKMPS(t *testing.T) {
	c := Config{Clients: 1_000_000_000_000, Bound: 1 << 18, Epsilon: 1e-4, Delta: 1e-9, Relation: fl.ZeroOut, Base: GKMPS}
	if _, err := newBase(c); !errors.Is(err, gkmps.ErrLimit) {
		t.Fatalf("gkmps: error %v", err)
	}
	c.Base = Auto
	b, err := newBase(c)
	if err != nil {
		t.Fatal(err)
	}
	if b.kind() != BBGN {
		t.Errorf("chose %s", b.kind())
	}
}

func TestNewBaseRefuses(t *testing.T) {
	good := Config{Clients: 100, Bound: 10, Epsilon: 1, Delta: 1e-6, Relation: fl.ReplaceOne}
	for _, base := range []Base{Auto, GKMPS, BBGN} {
		for what, mutate := range map[string]func(*Config){
			"no clients": func(c *Config) { c.Clients = 0 },
			"bound 0":    func(c *Config) { c.Bound = 0 },
			"epsilon":    func(c *Config) { c.Epsilon = math.NaN() },
			"infinite":   func(c *Config) { c.Epsilon = math.Inf(1) },
			"delta 0":    func(c *Config) { c.Delta = 0 },
			"delta 1":    func(c *Config) { c.Delta = 1 },
		} {
			c := good
			c.Base = base
			mutate(&c)
			var p *fl.ParamError
			if _, err := NewBaseSum(c); !errors.As(err, &p) {
				t.Errorf("%s, %s: error %v", base, what, err)
			}
		}
	}
	good.Base = 3
	if _, err := NewBaseSum(good); !isParam(err, "base") {
		t.Errorf("an unknown base: %v", err)
	}
}

func TestBaseNames(t *testing.T) {
	for _, b := range []Base{Auto, GKMPS, BBGN} {
		if got, err := ParseBase(b.String()); err != nil || got != b {
			t.Errorf("%s became %s, %v", b, got, err)
		}
	}
	if _, err := ParseBase("Gkmps"); !isParam(err, "base") {
		t.Errorf("error %v", err)
	}
	if got := fmt.Sprint(Base(9)); got != "Base(9)" {
		t.Errorf("got %q", got)
	}
}
