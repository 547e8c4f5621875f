package gkmps

import (
	"fmt"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// The rows are exact expectations, computed independently from the formulas of the paper in Python
// with mpmath. Gamma, r and rh are the constants of Published.
var expectations = []struct {
	n             int
	bound         int64
	eps, delta    float64
	width, atoms  int64
	gamma         int64
	rh, r         string
	central       string
	hat, tilde    string
	total, zeroed string // Published under ReplaceOne, Certified under ZeroOut
}{
	{100000, 1, 1, 1e-12, 1, 1, 0, "85.893063", "0.000000", "1.37024e-05", "0.085037", "0", "0.0850507", "0.0850507"},
	{100000, 2, 1, 1e-12, 1, 2, 4, "87.972505", "91.268342", "3.51919e-05", "0.351011", "3.64708", "3.99813", "1.626523"},
	{100000, 4, 1, 1e-12, 1, 4, 12, "87.972505", "93.810235", "7.92636e-05", "0.702901", "19.1279", "19.83089", "8.295045"},
	{100000, 8, 1, 1e-12, 1, 8, 32, "87.972505", "96.096655", "0.000167965", "1.40668", "78.0093", "79.41619", "34.06434"},
	{100000, 16, 1, 1e-12, 1, 16, 80, "87.972505", "98.274467", "0.000345649", "2.81424", "261.365", "264.1795", "116.9761"},
	{100000, 64, 1, 1e-12, 1, 64, 448, "87.972505", "102.505066", "0.00141225", "11.2596", "2277.06", "2288.319", "1050.722"},
	{100000, 1024, 1, 1e-12, 2, 512, 5120, "87.972505", "108.763989", "0.0113678", "90.083", "41420", "41510.1", "19600.89"},
	{100000, 100000, 1, 1e-12, 100, 1000, 11000, "87.972505", "110.773712", "0.0222122", "175.944", "100357", "100533.2", "47737.05"},
	{149000, 250000, 1, 1e-12, 205, 1220, 14640, "87.972505", "111.370535", "0.0181887", "144.062", "92697.3", "92841.4", "44148.34"},
	{575000, 250000, 1, 1e-12, 105, 2381, 30953, "87.972505", "113.377144", "0.00920019", "72.8564", "56569.4", "56642.28", "27053.48"},
	{1090000, 250000, 1, 1e-12, 76, 3290, 42770, "87.972505", "114.347419", "0.00670652", "53.1063", "43331.5", "43384.63", "20759.42"},
	{181000, 200000, 1, 1e-12, 149, 1343, 16116, "87.972505", "111.658813", "0.0164831", "130.549", "85359.9", "85490.44", "40682.5"},
	{1000, 1, 1, 1e-06, 1, 1, 0, "44.446532", "0.000000", "0.00137024", "4.40035", "0", "4.401725", "4.401725"},
	{1000, 10, 1, 1e-06, 1, 10, 50, "46.525973", "55.359290", "0.0212372", "93.0054", "7748.75", "7841.777", "3385.77"},
	{10000, 100, 0.2, 1e-09, 1, 100, 800, "67.249239", "83.129154", "0.111011", "672.486", "182632", "183304.9", "84818.23"},
	{10000, 100, 5, 1e-09, 1, 100, 800, "67.249239", "83.129154", "0.00434519", "26.893", "7302.91", "7329.811", "3390.944"},
	{1000000, 4, 5, 1e-09, 1, 4, 12, "67.249239", "73.086969", "9.61438e-07", "0.0106928", "0.297465", "0.3081584", "0.1285839"},
	{100000000, 1000, 1, 1e-12, 1, 1000, 11000, "87.972505", "110.773712", "2.22122e-05", "0.175944", "100.357", "100.5332", "47.73705"},
	{1000000000, 1000, 1, 1e-12, 1, 1000, 11000, "87.972505", "110.773712", "2.22122e-06", "0.0175944", "10.0357", "10.05332", "4.773705"},
}

// printed reports whether got has the printed digits, or differs by less than one in
// the last place.
func printed(got float64, want string) bool {
	var w float64
	if _, err := fmt.Sscan(want, &w); err != nil {
		return false
	}
	digits, started := 0, false // behind the first that is not 0
	for _, c := range want {
		if c == 'e' {
			break
		}
		if started = started || c >= '1' && c <= '9'; started && c != '.' {
			digits++
		}
	}
	place := 0.0
	if w != 0 {
		place = math.Pow(10, math.Floor(math.Log10(w))-float64(digits-1))
	}
	return math.Abs(got-w) <= 0.51*place
}

func TestExpectedMessages(t *testing.T) {
	for _, e := range expectations {
		c := Config{Clients: e.n, Bound: e.bound, Epsilon: e.eps, Delta: e.delta, Relation: fl.ReplaceOne, Calibration: Published, Rounding: true}
		t.Run(fmt.Sprintf("n=%d/U=%d/eps=%g", e.n, e.bound, e.eps), func(t *testing.T) {
			p, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			if p.Width() != e.width || p.Bound() != e.atoms {
				t.Fatalf("B = %d, U' = %d, want %d and %d", p.Width(), p.Bound(), e.width, e.atoms)
			}
			check := func(name string, got float64, want string) {
				if !printed(got, want) {
					t.Errorf("%s = %.9g, want %s", name, got, want)
				}
			}
			n, floods := float64(e.n), p.Floods()
			check("central", (floods[0].Total.Mean()+floods[1].Total.Mean())/n, e.central)
			check("rh", floods[2].Total.R, e.rh)
			check("D-hat", 2*floods[2].Total.Mean()/n, e.hat)
			tilde := 0.0
			for _, f := range floods[3:] {
				check("r", f.Total.R, e.r)
				tilde += float64(len(f.Messages)) * f.Total.Mean() / n
			}
			check("D-tilde", tilde, e.tilde)
			check("total", p.ExpectedMessages(), e.total)
			if e.atoms > 1 && dominance(e.atoms) != e.gamma {
				t.Errorf("Γ = %d, want %d", dominance(e.atoms), e.gamma)
			}
			if want := 3 + 2*int(e.atoms) - 1; e.atoms > 1 && len(floods) != want || e.atoms == 1 && len(floods) != 3 {
				t.Errorf("%d floods, want %d", len(floods), want)
			}

			c.Calibration, c.Relation = Certified, fl.ZeroOut
			if p, err = New(c); err != nil {
				t.Fatal(err)
			}
			check("total of Certified under ZeroOut", p.ExpectedMessages(), e.zeroed)
		})
	}
}

// Theorem 10 is for ε up to 1, so λε stops at 1: ε1 = 1/2, for U = 1 it is 1. Tight
// has no such limit.
func TestFloodBudgetIsCapped(t *testing.T) {
	for bound, want := range map[int64]float64{1: 0.2, 4: 0.1 / 4} {
		for _, calibration := range []Calibration{Certified, Published} {
			p, err := New(Config{Clients: 9, Bound: bound, Epsilon: 20, Delta: 1e-6, Relation: fl.ReplaceOne, Calibration: calibration})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Floods()[2].Total.Eta; math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%s, U = %d: D-hat has η = %g, want %g", calibration, bound, got, want)
			}
		}
	}
}
