package bbgn

import (
	"math"
	"math/big"
	"testing"
)

// exactWeight is w(a) = (ma)!/(a!)².
func exactWeight(a, m int) *big.Rat {
	hands := new(big.Int).MulRange(1, int64(a))
	return new(big.Rat).SetFrac(new(big.Int).MulRange(1, int64(m*a)), hands.Mul(hands, hands))
}

func exactLog2(x *big.Rat) float64 {
	fraction := new(big.Float)
	exponent := new(big.Float).SetPrec(400).SetRat(x).MantExp(fraction)
	f, _ := fraction.Float64()
	return math.Log2(f) + float64(exponent)
}

// exactPieces adds up Σ C(q, k)/q·F_k over all compositions, which it finds as partitions
// times the number of their orders, by the three kinds of the package comment. A
// composition of two kinds counts in both.
func exactPieces(n, m int, q uint64) (two, more, small, all *big.Rat) {
	two, more, small, all = new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	h := n / 2
	var visit func(left, largest int, parts []int, product *big.Rat)
	visit = func(left, largest int, parts []int, product *big.Rat) {
		if left > 0 {
			for a := min(left, largest); a > 0; a-- {
				visit(left-a, a, append(parts, a), new(big.Rat).Mul(product, exactWeight(a, m)))
			}
			return
		}
		k := len(parts)
		if k == 1 || uint64(k) > q {
			return
		}
		term := new(big.Rat).Quo(product, exactWeight(n, m))
		for i := 1; i < k; i++ { // C(q, k)/q·k!
			term.Mul(term, new(big.Rat).SetInt(new(big.Int).SetUint64(q-uint64(i))))
		}
		equal := 0
		for i := range parts { // the orders of the parts, over k!
			if i > 0 && parts[i] != parts[i-1] {
				equal = 0
			}
			equal++
			term.Quo(term, big.NewRat(int64(equal), 1))
		}
		all.Add(all, term)
		switch {
		case k == 2:
			two.Add(two, term)
		case parts[0] >= n-h:
			more.Add(more, term)
		}
		if parts[0] <= h {
			small.Add(small, term)
		}
	}
	visit(n, n, nil, big.NewRat(1, 1))
	return two, more, small, all
}

// The compositions add up to what the recurrence gives, and each of the three bounds
// holds for its kind.
func TestPiecesBoundTheirCompositions(t *testing.T) {
	for _, n := range []int{4, 5, 6, 7, 10, 13} {
		for _, m := range []int{2, 3, 4, 6, 9} {
			for _, q := range []uint64{2, 3, 7, 1000, 1 << 20, 1<<63 + 5} {
				two, more, small, all := exactPieces(n, m, q)
				if got, want := exactLog2(all), exactLog2ChiSquare(n, m, q); math.Abs(got-want) > 1e-9 {
					t.Errorf("n=%d m=%d q=%d: the compositions make 2^%.12f, the recurrence 2^%.12f", n, m, q, got, want)
				}
				gotTwo, gotMore, gotSmall := log2Pieces(n, m, q)
				for _, c := range []struct {
					kind  string
					bound float64
					exact *big.Rat
				}{{"two parts", gotTwo, two}, {"a large part", gotMore, more}, {"no large part", gotSmall, small}} {
					if c.exact.Sign() > 0 && !(c.bound >= exactLog2(c.exact)) {
						t.Errorf("n=%d m=%d q=%d, %s: bound 2^%.6f, exactly 2^%.6f", n, m, q, c.kind, c.bound, exactLog2(c.exact))
					}
				}
			}
		}
	}
}

// The certificate is never below the recurrence, and hardly above it where it is used:
// for more than a few clients, and for moduli that hide the difference between q and q−1.
// Log2ChiSquare itself is rounded up by less than 1e-3.
func TestCertificateBoundsTheRecurrence(t *testing.T) {
	for _, n := range []int{4, 5, 8, 17, 60, 101} {
		for _, m := range []int{2, 3, 5, 8, 13} {
			for _, q := range []uint64{2, 1 << 10, 1<<63 - 1} {
				if n*m > 1000 {
					continue
				}
				got, want := log2Certificate(n, m, q), exactLog2ChiSquare(n, m, q)
				if !(got >= want) {
					t.Errorf("n=%d m=%d q=%d: certificate 2^%.9f, exactly 2^%.9f", n, m, q, got, want)
				}
				if n > 16 && q > 1000 && want < -30 && got > want+0.2 {
					t.Errorf("n=%d m=%d q=%d: certificate 2^%.3f, exactly 2^%.3f", n, m, q, got, want)
				}
			}
		}
	}
	clients := []int{recurrenceClients + 1}
	if *long {
		clients = append(clients, 4000, 12_000)
	}
	for _, n := range clients {
		for _, bits := range []int{14, 40, 63} {
			for _, delta := range []float64{0.999, 1e-12} {
				q := uint64(1) << bits
				m, err := Messages(n, q, 1e-9, delta)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := log2Certificate(n, m, q), Log2ChiSquare(n, m, q); got < want-1e-3 || got > want+0.003 {
					t.Errorf("n=%d m=%d q=%d: certificate 2^%.6f, recurrence 2^%.6f", n, m, q, got, want)
				}
			}
		}
	}
}

// The two facts that the derivation rests on, the first in exact numbers, the second
// in logarithms whose rounding is below 1e-4.
func TestFactsOfTheDerivation(t *testing.T) {
	for m := 2; m <= 30; m++ {
		last, weight := new(big.Rat), exactWeight(0, m)
		for a := 1; a <= 60; a++ {
			next := exactWeight(a, m)
			ratio := new(big.Rat).Quo(next, weight)
			if ratio.Cmp(last) < 0 {
				t.Fatalf("m=%d: r(%d) is below r(%d)", m, a, a-1)
			}
			last, weight = ratio, next
		}
	}
	const tolerance = 1e-4
	for _, n := range []int{4, 9, 30, 2001, 1_000_000, 1_000_000_000} {
		h := n / 2
		for _, m := range []int{2, 3, 7, 40} {
			for b := 1; b < min(h, 12); b++ {
				if u, next := log2Split(n, b, m), log2Split(n, b+1, m); next > u+tolerance {
					t.Errorf("n=%d m=%d: u(n, %d) is above u(n, %d)", n, m, b+1, b)
				}
				if v, next := log2Split(n-h+b, b, m), log2Split(n-h+b+1, b+1, m); next > v+tolerance {
					t.Errorf("n=%d m=%d: v(%d) is above v(%d)", n, m, b+1, b)
				}
				if few, many := log2Split(n-h+b, b, m), log2Split(n, b, m); many > few+tolerance {
					t.Errorf("n=%d m=%d: u(N, %d) rises with N", n, m, b)
				}
			}
		}
	}
}

// The two inequalities about series.
func TestSeriesOfTheDerivation(t *testing.T) {
	for x := 1e-6; x < 300; x *= 1.3 {
		tail, squares, term, square := 0., 1., 1., 1.
		for j := 1.; j < 2000; j++ {
			term *= x / j
			square *= x / (j * j)
			squares += square
			if j > 1 {
				tail += term
			}
		}
		if limit := x * x * math.Exp(x) / 2; tail > limit*(1+1e-12) {
			t.Errorf("x = %g: e^x − 1 − x = %g, not at most %g", x, tail, limit)
		}
		if limit := math.Exp(2 * math.Sqrt(x)); squares > limit {
			t.Errorf("x = %g: Σ x^j/(j!)² = %g, not at most %g", x, squares, limit)
		}
	}
}

func TestSplitIsRoundedUp(t *testing.T) {
	for _, n := range []int64{9, 2001, 1_000_000_007} {
		for b := int64(1); b <= 4; b++ {
			for _, m := range []int64{2, 3, 9, 100, 600} {
				hands := new(big.Int).Binomial(n, b)
				want := exactLog2(new(big.Rat).SetFrac(hands.Mul(hands, hands), new(big.Int).Binomial(m*n, m*b)))
				if got := log2Split(int(n), int(b), int(m)); got < want || got > want+0x1p-15 {
					t.Errorf("u(%d, %d) for m=%d: 2^%.9f, want just above 2^%.9f", n, b, m, got, want)
				}
			}
		}
	}
	for _, k := range []int{1, 2, 50, 700} {
		for _, m := range []int{2, 3, 15} {
			if got, want := log2Weight(k, m), exactLog2(exactWeight(k, m)); math.Abs(got-want) > 1e-12*(1+want) {
				t.Errorf("w(%d) for m=%d: 2^%.12f, want 2^%.12f", k, m, got, want)
			}
		}
	}
}

func TestLog2Sum(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range [][3]float64{
		{0, 0, 1}, {3, 1, math.Log2(10)}, {1, 3, math.Log2(10)}, {-5000, -5001, -5000 + math.Log2(1.5)}, {7, -1e6, 7},
		{-inf, 2, 2}, {2, -inf, 2}, {-inf, -inf, -inf}, {inf, 1, inf}, {inf, inf, inf}, {-inf, inf, inf},
	} {
		if got := log2Sum(c[0], c[1]); got != c[2] && !(math.Abs(got-c[2]) < 1e-12) {
			t.Errorf("2^%v + 2^%v: got 2^%v, want 2^%v", c[0], c[1], got, c[2])
		}
	}
}

// For every n above recurrenceClients the m of Messages is certified, the certificate
// exceeds the leading term by less than 0.2 %, and it is monotone. Too few messages are
// refused, and from too low a start the search climbs to an m that is certified.
func TestCertifiedForManyClients(t *testing.T) {
	for n := recurrenceClients + 1; n < math.MaxInt/40; n = n*40 + 3 {
		for _, bits := range []int{1, 12, 31, 48, 63} {
			q := uint64(1) << bits
			for _, c := range []struct{ epsilon, delta float64 }{{1e-9, 0.9}, {1, 1e-6}, {1, 1e-12}, {20, 1e-300}, {700, 1e-12}} {
				m, err := Messages(n, q, c.epsilon, c.delta)
				if err != nil {
					t.Fatalf("n=%d q=2^%d %+v: %v", n, bits, c, err)
				}
				allowed := log2Allowed(c.epsilon, min(c.delta, largestDelta))
				bound := log2Certificate(n, m, q)
				if !(bound <= allowed) || bound > log2Leading(n, m, q)+math.Log2(1.002) {
					t.Errorf("n=%d q=2^%d %+v m=%d: certificate 2^%.4f, leading term 2^%.4f, allowed 2^%.4f", n, bits, c, m, bound, log2Leading(n, m, q), allowed)
				}
				if q > 2 && log2Certificate(n, m, q/2) > bound || log2Certificate(2*n, m, q) > bound || log2Certificate(n, m+1, q) > bound {
					t.Errorf("n=%d q=2^%d m=%d: the certificate is not monotone", n, bits, m)
				}
				if m-2 >= fewestMessages && log2Certificate(n, m-2, q) <= allowed {
					t.Errorf("n=%d q=2^%d %+v: %d messages are certified, two fewer too", n, bits, c, m)
				}
				least := certified(fewestMessages, n, q, allowed)
				if least > m || least < m-1 || least > fewestMessages && log2Certificate(n, least-1, q) <= allowed {
					t.Errorf("n=%d q=2^%d %+v: from %d on %d messages are certified, Messages says %d", n, bits, c, fewestMessages, least, m)
				}
			}
		}
	}
}

// Where the bound says nothing no number of messages is certified.
func TestCertifiedRefuses(t *testing.T) {
	for _, n := range []int{50, recurrenceClients + 1} {
		if m := certified(mostMessages-3, n, 1<<63, -1e9); m != mostMessages+1 {
			t.Errorf("n=%d: %d messages for a bound of 2^-1e9", n, m)
		}
		if m := certified(mostMessages, n, 1<<63, math.NaN()); m != mostMessages+1 {
			t.Errorf("n=%d: %d messages for no bound", n, m)
		}
	}
}

func BenchmarkMessages(b *testing.B) {
	for b.Loop() {
		if _, err := Messages(1_000_000_000, 1<<40, 1, 1e-12); err != nil {
			b.Fatal(err)
		}
	}
}
