package binomial

import (
	"math"
	"math/big"
	"testing"
)

// pmfTolerance is the relative accuracy that binomial.go states for a value p.
func pmfTolerance(p float64) float64 { return 5e-15 - 4*0x1p-53*math.Log(p) }

// References computed with mpmath 1.3 (60 digits, through log-gamma).
func TestBinomialPMF(t *testing.T) {
	for _, c := range []struct {
		k, n    int
		p, want float64
	}{
		{3, 10, 0.25, 0.25028228759765625},
		{17, 1000, 0.03125, 0.0017705434860874748853},
		{999, 1000, 0.96875, 5.2523519609108905909e-13},
		{500_000, 1_000_000, 0.5, 0.00079788436133175008909},
		{121_000, 1_000_000, 0.125, 1.0634206545634168298e-35},
		{500_000_000, 1_000_000_000, 0.5, 0.000025231325213893769178},
		{500_140_000, 1_000_000_000, 0.5, 2.3855919759510087972e-22},
		{250_100_000, 1_000_000_000, 0.25, 7.6593965975983981984e-17},
		{250_110_000, 1_000_000_000, 0.25 + 0x1p-40, 2.8345265997681097615e-19}, // n·p is inexact
		{40, 1_000_000_000, 0x1p-25, 0.013042927886184124317},
		{999_999_900, 1_000_000_000, 1 - 0x1p-25, 3.2510374783853465939e-24},
	} {
		if got := PMF(c.k, c.n, c.p, 1-c.p); math.Abs(got/c.want-1) > pmfTolerance(got) {
			t.Errorf("P[Binomial(%d, %v) = %d]: got %v, want %v (off by %.2g)", c.n, c.p, c.k, got, c.want, got/c.want-1)
		}
	}
}

// Every value for small n, against exact integers, with p = 1/4.
func TestBinomialPMFExact(t *testing.T) {
	if got := PMF(0, 0, 1, 0); got != 1 {
		t.Errorf("no trials: got %v, want 1", got)
	}
	for _, n := range []int{0, 1, 2, 7, 15, 16, 17, 60} {
		for k := 0; k <= n; k++ {
			exact := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
			exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(3), big.NewInt(int64(n-k)), nil)))
			exact.Quo(exact, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(2*n))))
			want, _ := exact.Float64()
			if got := PMF(k, n, 0.25, 0.75); math.Abs(got/want-1) > pmfTolerance(got) {
				t.Errorf("P[Binomial(%d, 1/4) = %d]: got %v, want %v", n, k, got, want)
			}
		}
	}
}

// Far from the mean the exponent is a difference of larger terms. It keeps its digits there, against exact integers
// with p = 1/2.
func TestBinomialPMFFarOut(t *testing.T) {
	for _, n := range []int{1300, 11_250} {
		all := new(big.Int).Lsh(big.NewInt(1), uint(n))
		for k := n / 2; k <= n; k += n / 50 {
			want, _ := new(big.Rat).SetFrac(new(big.Int).Binomial(int64(n), int64(k)), all).Float64()
			if want < 1e-300 {
				break
			}
			for _, k := range []int{k, n - k} {
				if got := PMF(k, n, 0.5, 0.5); math.Abs(got/want-1) > pmfTolerance(got) {
					t.Errorf("P[Binomial(%d, 1/2) = %d]: got %v, want %v (off by %.2g)", n, k, got, want, got/want-1)
				}
			}
		}
	}
}

// A row carries its values on from one anchor to the next; they must meet what each
// position gives on its own. Between anchors 64 steps of at most four roundings, and both
// ends are as accurate as a single value.
func TestBinomialRow(t *testing.T) {
	for _, c := range []struct {
		lo, n int
		p     float64
	}{{0, 300, 0.5}, {0, 300, 0x1p-9}, {249_900_000, 1_000_000_000, 0.25}, {0, 1_000_000_000, 0x1p-27}} {
		row := make([]float64, 300)
		Row(row, c.lo, c.n, c.p, 1-c.p)
		for i, got := range row {
			want := PMF(c.lo+i, c.n, c.p, 1-c.p)
			if want > 1e-300 && math.Abs(got/want-1) > 256*0x1p-53+2*pmfTolerance(got) {
				t.Errorf("%+v: row[%d]: got %v, want %v (off by %.2g)", c, i, got, want, got/want-1)
			}
		}
	}
}

// The quantiles cut no more than promised and, being Chernoff bounds, not absurdly less:
// the mass beyond is summed directly.
func TestQuantiles(t *testing.T) {
	for _, c := range []struct {
		n int
		p float64
	}{{0, 0.5}, {1, 0.5}, {40, 0.5}, {500, 0.5}, {500, 0.01}, {500, 0.99}, {3000, 0.3}} {
		for _, log := range []float64{-1, -10, LogTail} {
			lo, hi := LowerQuantile(c.n, c.p, 1-c.p, log), UpperQuantile(c.n, c.p, 1-c.p, log)
			if lo < 0 || float64(lo) > float64(c.n)*c.p || float64(hi) < float64(c.n)*c.p || hi > c.n {
				t.Errorf("%+v: window [%d, %d] does not hold the mean", c, lo, hi)
			}
			below, above := 0.0, 0.0
			for k := 0; k <= c.n; k++ {
				if k < lo {
					below += PMF(k, c.n, c.p, 1-c.p)
				} else if k > hi {
					above += PMF(k, c.n, c.p, 1-c.p)
				}
			}
			if limit := math.Exp(log); below > limit || above > limit {
				t.Errorf("%+v log=%v: cuts %v below and %v above, want at most %v", c, log, below, above, limit)
			}
			if lo > 0 && LogChernoff(lo, c.n, c.p, 1-c.p) <= log {
				t.Errorf("%+v log=%v: lower quantile %d is not the largest", c, log, lo)
			}
			if hi < c.n && float64(hi) > float64(c.n)*c.p+1 && LogChernoff(hi, c.n, c.p, 1-c.p) <= log {
				t.Errorf("%+v log=%v: upper quantile %d is not the smallest", c, log, hi)
			}
		}
	}
	if math.Exp(LogTail) > TailMass {
		t.Errorf("e^LogTail = %v above TailMass = %v", math.Exp(LogTail), TailMass)
	}
}

// A row that begins with zeros, or whose odds are too large for a float64, has the values of its
// positions all the same.
func TestRowGoesOnAfterAnUnderflow(t *testing.T) {
	for _, c := range []struct {
		n    int
		p, q float64
	}{{3, 1, 2e-309}, {3, 1, 0}, {40, 1, 1e-20}, {5, 1, 1e-120}} {
		row := make([]float64, c.n+1)
		Row(row, 0, c.n, c.p, c.q)
		for k, got := range row {
			if want := PMF(k, c.n, c.p, c.q); !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("%+v: row[%d] = %v, want %v", c, k, got, want)
			}
		}
	}
}
