package bbgn

import (
	"errors"
	"flag"
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

var long = flag.Bool("long", false, "certify 12 000 clients, too")

// table lists, for Capacity = Clients, what the formulas of the package comment
// give; computed independently in Python with 60-digit decimals, m by the leading term
// with safety factor two for every n.
var table = []struct {
	clients            int
	bound              int64
	epsilon, delta     float64
	slack              int64
	modulus            uint64
	bits, messages     int
	chiSquare, allowed float64 // log₂, rounded to two decimals
	fewerByRecurrence  int     // how many messages the exact bound saves
}{
	{100_000, 100_000, 1, 1e-12, 2841904, 10005683809, 34, 9, -92.11, -81.52, 0},
	{149_000, 250_000, 1, 1e-12, 7104759, 37264209519, 36, 9, -94.24, -81.52, 0},
	{575_000, 250_000, 1, 1e-12, 7104759, 143764209519, 38, 8, -85.44, -81.52, 0},
	{1_090_000, 250_000, 1, 1e-12, 7104759, 272514209519, 38, 8, -90.05, -81.52, 0},
	{181_000, 200_000, 1, 1e-12, 5683807, 36211367615, 36, 9, -96.24, -81.52, 0},
	{100_000, 1, 1, 1e-12, 29, 100059, 17, 8, -90.75, -81.52, 0},
	{100_000, 1024, 1, 1e-12, 29102, 102458205, 27, 9, -98.72, -81.52, 0},
	{1000, 1000, 1, 1e-6, 28420, 1056841, 21, 8, -47.48, -41.65, 0},
	{10_000, 1000, 0.2, 1e-9, 142096, 10284193, 24, 8, -64.13, -60.10, 0},
	{10_000, 1000, 5, 1e-9, 5684, 10011369, 24, 9, -78.82, -72.24, 0},
	{100, 1000, 1, 1e-6, 28420, 156841, 18, 10, -46.25, -41.65, 0},
	{10, 1000, 1, 1e-6, 28420, 66841, 17, 15, -43.47, -41.65, 0},
	{2, 1, 1, 1e-6, 29, 61, 6, 27, -41.86, -41.65, 1}, // the leading term is twice the bound
	{10_000_000, 1000, 1, 1e-12, 28420, 10000056841, 34, 7, -89.40, -81.52, 0},
	{1_000_000_000, 1000, 1, 1e-12, 28420, 1000000056841, 40, 6, -84.74, -81.52, 0},
}

// The first five rows have the numbers of messages of Dong, Luo, Fanti, Yi, Shi,
// "Instance-optimal Clipping for Summation Problems in the Shuffle Model of
// Differential Privacy", Table 3.
func TestTable(t *testing.T) {
	for _, c := range table {
		p, err := New(Config{Clients: c.clients, Bound: c.bound, Epsilon: c.epsilon, Delta: c.delta})
		if err != nil {
			t.Errorf("n=%d U=%d: %v", c.clients, c.bound, err)
			continue
		}
		if p.Slack() != c.slack || p.Modulus() != c.modulus || p.MessageBits() != c.bits || p.Messages() != c.messages-c.fewerByRecurrence {
			t.Errorf("n=%d U=%d ε=%v: got T=%d q=%d bits=%d m=%d, want T=%d q=%d bits=%d m=%d", c.clients, c.bound, c.epsilon,
				p.Slack(), p.Modulus(), p.MessageBits(), p.Messages(), c.slack, c.modulus, c.bits, c.messages-c.fewerByRecurrence)
		}
		// 0.005 for the two decimals, 0.001 for our own rounding.
		if got := 1 + log2Leading(c.clients, c.messages, c.modulus); math.Abs(got-c.chiSquare) > 0.006 {
			t.Errorf("n=%d U=%d m=%d: log₂ χ² bound %.4f, want %.2f", c.clients, c.bound, c.messages, got, c.chiSquare)
		}
		if got := 1 + log2Leading(c.clients, c.messages-1, c.modulus); got <= c.allowed+0.006 {
			t.Errorf("n=%d U=%d: the leading term allows %d messages too", c.clients, c.bound, c.messages-1)
		}
		if got := log2Allowed(c.epsilon, c.delta); math.Abs(got-c.allowed) > 0.006 {
			t.Errorf("ε=%v δ=%v: allowed log₂ χ² %.4f, want %.2f", c.epsilon, c.delta, got, c.allowed)
		}
	}
}

// Both sides of the condition are rounded against the caller. References for the
// float64 arguments computed independently in Python with 60-digit decimals; the
// leading term is compared with exact integers.
func TestRuleIsRoundedAgainstUs(t *testing.T) {
	for _, c := range []struct{ epsilon, delta, want float64 }{
		{1, 1e-6, -41.652409386592371458590528},
		{0.2, 1e-9, -60.097647685567615426152193},
		{5, 1e-9, -72.241032516788339816841869},
		{1, 1e-12, -81.515546525240719560499879},
		{20, 0.5, -57.707801641505768507472768},
		{700, 1e-300, -4010.9299141769661789537809},
		{1e-9, 1e-3, -19.931568570766869068407306},
		{3, 0.25, -10.796363707664512924200506},
	} {
		if got := log2Allowed(c.epsilon, c.delta); !(got < c.want && got > c.want*(1+1e-13)) {
			t.Errorf("ε=%v δ=%v: allowed %.17g, want just below %.17g", c.epsilon, c.delta, got, c.want)
		}
	}
	for _, n := range []int64{3, 1000, 1_000_000_007} {
		for m := int64(3); m <= 60; m++ {
			const q = 1<<62 + 12345
			ratio := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(q), big.NewInt(n*n)), new(big.Int).Binomial(m*n, m))
			fraction := new(big.Float)
			exponent := new(big.Float).SetPrec(200).SetRat(ratio).MantExp(fraction)
			f, _ := fraction.Float64()
			want := math.Log2(f) + float64(exponent)
			if got := log2Leading(int(n), int(m), q); got < want || got > want+0x1p-19 {
				t.Errorf("n=%d m=%d: log₂ of the leading term %.12f, want just above %.12f", n, m, got, want)
			}
		}
	}
}

// certifies reports whether the exact bound allows m messages.
func certifies(n, m int, q uint64, epsilon, delta float64) bool {
	return Log2ChiSquare(n, m, q) <= log2Allowed(epsilon, delta)
}

func TestMessagesIsTheSmallestCertified(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 10, 25, 60, 170, 400, recurrenceClients} {
		for _, bits := range []int{6, 12, 20, 33, 48, 63} {
			q := uint64(1)<<bits - 1
			if n == recurrenceClients && bits%2 == 1 || q < uint64(n) {
				continue
			}
			for _, delta := range []float64{0.9, 0.1, 1e-3, 1e-6, 1e-12} {
				m, err := Messages(n, q, 1, delta)
				if err != nil {
					t.Fatalf("n=%d q=%d δ=%v: %v", n, q, delta, err)
				}
				if !certifies(n, m, q, 1, delta) {
					t.Errorf("n=%d q=%d δ=%v: m=%d is not certified", n, q, delta, m)
				}
				if m > fewestMessages && certifies(n, m-1, q, 1, delta) {
					t.Errorf("n=%d q=%d δ=%v: m=%d, but %d is certified", n, q, delta, m, m-1)
				}
			}
		}
	}
}

// Where the rule is the leading term, the recurrence confirms it.
func TestLeadingTermIsCertifiedForManyClients(t *testing.T) {
	clients := []int{recurrenceClients + 1, 4000}
	if *long {
		clients = append(clients, 12_000)
	}
	for _, n := range clients {
		for _, bits := range []int{14, 40, 63} {
			for _, delta := range []float64{0.999, 1e-12} {
				q := uint64(1) << bits
				m, err := Messages(n, q, 1e-9, delta)
				if err != nil {
					t.Fatal(err)
				}
				bound := Log2ChiSquare(n, m, q)
				if bound > log2Allowed(1e-9, delta) || bound > log2Leading(n, m, q)+math.Log2(1.01) {
					t.Errorf("n=%d q=%d δ=%v m=%d: the bound is 2^%.4f, the leading term 2^%.4f, allowed 2^%.4f",
						n, q, delta, m, bound, log2Leading(n, m, q), log2Allowed(1e-9, delta))
				}
			}
		}
	}
}

// The factor two: the recurrence stays below twice the leading term (q−1)·n²/C(mn,m)
// whenever that meets a δ up to 1e-3, and above it up to the factor (q−1)/q that log2Leading
// rounds away. For larger δ it does not.
func TestSafetyFactor(t *testing.T) {
	for _, n := range []int{3, 4, 5, 6, 8, 10, 14, 20, 31, 45, 60, 102, 204, 408} {
		for _, bits := range []int{10, 20, 30, 40, 50, 56, 60, 63} {
			for _, delta := range []float64{1e-3, 1e-4, 1e-6, 1e-9} {
				q := uint64(1) << bits
				m := fewestMessages
				for ; 1+log2Leading(n, m, q) > log2Allowed(1e-9, delta); m++ {
				}
				if r := Log2ChiSquare(n, m, q) - log2Leading(n, m, q); r > 1 || r < -0.002 {
					t.Errorf("n=%d q=2^%d δ=%v m=%d: the bound is 2^%.3f times the leading term", n, bits, delta, m, r)
				}
			}
		}
	}
	worst := 0.
	for n := 3; n <= 30; n++ {
		for bits := 55; bits <= 63; bits++ {
			q := uint64(1) << bits
			m := fewestMessages
			for ; 1+log2Leading(n, m, q) > log2Allowed(1e-9, 0.5); m++ {
			}
			worst = max(worst, Log2ChiSquare(n, m, q)-log2Leading(n, m, q))
		}
	}
	if worst <= 1 {
		t.Errorf("δ = 0.5: the bound is at most 2^%.3f times the leading term; then the recurrence is not needed", worst)
	}
}

// plusOne is the closed form ⌈(2σ+log₂ q)/(log₂ n − log₂ e) + 1⌉, whose "+2" variant is
// one more; tables use σ = 40 and q = 10nU.
func plusOne(n int, q, sigma float64) int {
	return int(math.Ceil((2*sigma+math.Log2(q))/(math.Log2(float64(n))-math.Log2E) + 1))
}

// The closed form against the certified rule for δ = 1e-12: the total variation bound
// (its leading term alone) certifies a larger δ for many clients with small inputs, and
// for few clients the closed form asks for more messages than needed.
func TestClosedForm(t *testing.T) {
	for _, c := range []struct {
		clients, bound int
		low, high      float64 // the certified δ, ε = 1
	}{
		{575_000, 1, 1.35e-12, 1.45e-12}, {575_000, 8, 3.85e-12, 3.95e-12}, {10_000_000, 1, 2.25e-11, 2.35e-11}, {1_000_000_000, 1, 1.1e-9, 1.2e-9},
	} {
		q := 10 * float64(c.clients) * float64(c.bound)
		m := plusOne(c.clients, q, 40)
		delta := (1 + math.E) / 2 * math.Exp2(log2Leading(c.clients, m, uint64(q))/2)
		if delta < c.low || delta > c.high {
			t.Errorf("n=%d U=%d: %d messages are certified for δ = %.3g, want %.3g to %.3g", c.clients, c.bound, m, delta, c.low, c.high)
		}
		if need, err := Messages(c.clients, uint64(q), 1, 1e-12); err != nil || need <= m {
			t.Errorf("n=%d U=%d: got %d messages, %v; want more than the closed form's %d", c.clients, c.bound, need, err, m)
		}
	}
	for _, c := range []struct{ clients, bound, closed, certified int }{{1000, 1000, 14, 11}, {100, 1000, 21, 15}, {20, 10, 33, 19}} {
		p, err := New(Config{Clients: c.clients, Bound: int64(c.bound), Epsilon: 1, Delta: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		closed := plusOne(c.clients, 10*float64(c.clients)*float64(c.bound), 40)
		if closed != c.closed || p.Messages() != c.certified {
			t.Errorf("n=%d U=%d: closed form %d, certified %d; want %d and %d", c.clients, c.bound, closed, p.Messages(), c.closed, c.certified)
		}
	}
}

func TestMessagesExtremes(t *testing.T) {
	for _, c := range []struct {
		n              int
		q              uint64
		epsilon, delta float64
		want           int // computed independently in Python with 60-digit decimals and exact binomials
	}{
		{1, 1 << 63, 1, 1e-12, 1},
		{2, 1 << 63, 1, 1e-300, 1033},
		{1_000_000_000, 1 << 63, 1, 1e-300, 68},
		{1_000_000_000, 1 << 63, 1e-300, 5e-324, 73},
		{1_000_000_000, 1 << 63, 20, 0.999999999, 7}, // δ counts as 1e-3,
		{math.MaxInt, math.MaxUint64, 1, 1e-12, 5},
		{2, 2, 1e-300, math.Nextafter(1, 0), 3},
		{2, 2, 1500, 1e-12, 2207},
	} {
		got, err := Messages(c.n, c.q, c.epsilon, c.delta)
		if err != nil || got != c.want {
			t.Errorf("n=%d q=%d ε=%v δ=%v: got %d, %v; want %d", c.n, c.q, c.epsilon, c.delta, got, err, c.want)
		}
	}
}

// A smaller δ, a larger ε or q and fewer clients never need fewer messages.
func TestMessagesMonotone(t *testing.T) {
	at := func(n int, q uint64, epsilon, delta float64) int {
		m, err := Messages(n, q, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, n := range []int{2, 50, 1999, 2000, 2001, 100_000} {
		for _, delta := range []float64{0.5, 1e-3, 1e-8} {
			m := at(n, 1<<40, 1, delta)
			if less := at(n, 1<<40, 1, delta/4); less < m {
				t.Errorf("n=%d: %d messages at δ=%v, %d at δ/4", n, m, delta, less)
			}
			if more := at(n, 1<<40, 2, delta); more < m {
				t.Errorf("n=%d: %d messages at ε=1, %d at ε=2", n, m, more)
			}
			if wide := at(n, 1<<50, 1, delta); wide < m {
				t.Errorf("n=%d: %d messages at q=2^40, %d at 2^50", n, m, wide)
			}
			if n > 50 {
				if few := at(n/2, 1<<40, 1, delta); few < m && delta < 0.1 {
					t.Errorf("n=%d: %d messages, %d for n/2", n, m, few)
				}
			}
		}
	}
}

func TestMessagesRefuses(t *testing.T) {
	for _, c := range []struct {
		n              int
		q              uint64
		epsilon, delta float64
		param          string
	}{
		{0, 9, 1, 0.1, "clients"}, {-3, 9, 1, 0.1, "clients"}, {3, 1, 1, 0.1, "modulus"}, {3, 0, 1, 0.1, "modulus"},
		{3, 9, 0, 0.1, "epsilon"}, {3, 9, -1, 0.1, "epsilon"}, {3, 9, math.NaN(), 0.1, "epsilon"}, {3, 9, math.Inf(1), 0.1, "epsilon"},
		{1, 9, math.Inf(1), 0.1, "epsilon"},
		{3, 9, 1, 0, "delta"}, {3, 9, 1, 1, "delta"}, {3, 9, 1, math.NaN(), "delta"}, {3, 9, 1, math.Inf(1), "delta"},
		{2, 9, 1e5, 0.1, "epsilon"}, {1_000_000, 9, 1e300, 0.1, "epsilon"}, {2000, 9, math.MaxFloat64, 0.1, "epsilon"},
	} {
		_, err := Messages(c.n, c.q, c.epsilon, c.delta)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != c.param {
			t.Errorf("n=%d q=%d ε=%v δ=%v: got %v, want an error about %s", c.n, c.q, c.epsilon, c.delta, err, c.param)
		}
	}
}
