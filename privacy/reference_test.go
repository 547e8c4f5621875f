package privacy

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// This file holds what the tests compare with: recorded reference numbers and slow
// computations that share no code with the package.

// golden is testdata/amplification.json; the file says where its numbers come from.
type golden struct {
	Cells []goldenCell
	Pair  []struct {
		N, S, T    int
		Eps, Alpha float64
		EpsC       float64 `json:"eps_c"`
		Delta      json.Number
	} `json:"pair_delta"`
	Tiny []tinyCell
}

type goldenCell struct {
	N, S, T    int
	Eps        float64 `json:"eps0"`
	Family     string
	Alpha      float64
	Delta      float64
	Blanket    float64 `json:"eps_c_blanket"`
	Clone      float64 `json:"eps_c_standard_clone"`
	Pair       float64 `json:"eps_c_pair"`
	Recomputed float64 `json:"eps_c_recomputed"`
}

type tinyCell struct {
	S, T, N              int
	E, Q                 string
	Exact, Pair, Blanket string
}

func readGolden(t *testing.T) golden {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "amplification.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func mustBlanket(t testing.TB, epsilon float64, sparsity, slots int) *Blanket {
	t.Helper()
	b, err := NewBlanket(epsilon, sparsity, slots)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustClone(t testing.TB, epsilon float64) *Clone {
	t.Helper()
	c, err := NewClone(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustDelta(t testing.TB, a fl.Amplification, n int, epsilonCentral float64) float64 {
	t.Helper()
	delta, err := a.Delta(n, epsilonCentral)
	if err != nil {
		t.Fatal(err)
	}
	return delta
}

func mustEpsilon(t testing.TB, a fl.Amplification, n int, delta float64) float64 {
	t.Helper()
	epsilon, err := a.Epsilon(n, delta)
	if err != nil {
		t.Fatal(err)
	}
	return epsilon
}

// isInvalid says whether err is a *fl.ParamError with this text.
func isInvalid(err error, text string) bool {
	var param *fl.ParamError
	return errors.As(err, &param) && err.Error() == text
}

// kinds is a bound of this package with every quantity in high precision: a message is of
// kind A or B with probability alpha each, of kind R with probability mid.
type kinds struct {
	e, scale, alpha, mid *big.Float
	weighted             bool // a neutral message counts e times
}

// blanketKinds is the right-hand side of (2) in the package documentation.
func blanketKinds(e *big.Float, sparsity, slots int) kinds {
	omega := bigAdd(bigMul(bigOf(float64(sparsity)), e), bigOf(float64(slots-sparsity)))
	pairs, middle := min(sparsity, slots-sparsity), max(slots-2*sparsity, 2*sparsity-slots)
	return kinds{
		e, bigOf(1), bigQuo(bigOf(float64(pairs)), omega), bigQuo(bigOf(float64(middle)), omega), slots < 2*sparsity,
	}
}

// sum returns the bound at n clients and q = e^{ε_c}, summed over all A and B; the sum over R
// is a prefix of Σ (x − weight·r)·C(j, r)·mid^r·rest^{j−r}, j = n − A − B.
func (k kinds) sum(q *big.Float, n int) *big.Float {
	one := bigOf(1)
	favour, against, neutral := bigSub(k.e, q), bigSub(bigMul(k.e, q), one), bigSub(q, one)
	if k.weighted {
		neutral = bigMul(neutral, k.e)
	}
	rest := bigPowers(bigSub(bigSub(one, bigMul(bigOf(2), k.alpha)), k.mid), n)
	alpha, mid := bigPowers(k.alpha, n), bigPowers(k.mid, n)
	sum := bigOf(0)
	for total := 1; total <= n; total++ {
		j := n - total
		mass, moment := []*big.Float{bigOf(0)}, []*big.Float{bigOf(0)} // of R < i
		for r := 0; r <= j; r++ {
			point := bigMul(bigBinomial(j, r), bigMul(mid[r], rest[j-r]))
			mass = append(mass, bigAdd(mass[r], point))
			moment = append(moment, bigAdd(moment[r], bigMul(point, bigOf(float64(r)))))
		}
		outer := bigMul(bigBinomial(n, total), alpha[total])
		for a := total; a >= 0; a-- {
			x := bigSub(bigMul(favour, bigOf(float64(a))), bigMul(against, bigOf(float64(total-a))))
			if x.Sign() <= 0 {
				break // it falls with B
			}
			count := j + 1 // of r with x − neutral·r >= 0
			if most := bigMul(neutral, bigOf(float64(j))); most.Cmp(x) > 0 {
				last, _ := bigQuo(x, neutral).Int64()
				count = int(last) + 1
			}
			inner := bigSub(bigMul(x, mass[count]), bigMul(neutral, moment[count]))
			sum = bigAdd(sum, bigMul(inner, bigMul(outer, bigBinomial(total, a))))
		}
	}
	return bigQuo(bigMul(sum, k.scale), bigOf(float64(n)))
}

// twoCounters returns the hockey-stick divergence of order q = e^{ε_c} between the
// two-counter laws in which each of n − 1 other clients ticks either counter with
// probability alpha, and the victim ticks the first with probability e·own, the second
// with probability own, or the reverse under the other law. For own = alpha this is the
// pair (P_α, Q_α) of Wang et al. It sums over all outcomes that matter at 1e-16.
//
// Dividing by the law of n such other clients turns it into
// (1/n)·E[((own/α)((e−q)A − (eq−1)B) − (q−1)·κ·C)_+], κ = (1−(e+1)·own)/(1−2α).
func twoCounters(n int, epsilon, own, alpha, epsilonCentral float64) float64 {
	e, q := math.Exp(epsilon), math.Exp(epsilonCentral)
	up := own / alpha * q * math.Expm1(epsilon-epsilonCentral)
	down := own / alpha * (e*q - 1)
	idle := math.Expm1(epsilonCentral) * (1 - (e+1)*own) / (1 - 2*alpha)
	lgamma := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	m, p := float64(n), 2*alpha
	spread := 10*math.Sqrt(m*p*(1-p)) + 20
	total := 0.0
	for k := max(1, int(m*p-spread)); k <= min(n, int(m*p+spread)); k++ {
		log := lgamma(n) - lgamma(k) - lgamma(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
		threshold := (down*float64(k) + idle*float64(n-k)) / (up + down)
		first := int(math.Ceil(threshold))
		if first > k {
			continue
		}
		point := math.Exp(log + lgamma(k) - lgamma(first) - lgamma(k-first) - float64(k)*math.Ln2)
		for a := first; a <= k; a++ {
			term := point * (float64(a) - threshold)
			total += term
			if term < total*1e-19 && a > first {
				break
			}
			point *= float64(k-a) / float64(a+1)
		}
	}
	return total * (up + down) / m
}
