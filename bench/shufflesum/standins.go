package shufflesum

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/hdsum"
)

// standIn takes the place of one of the paper's data sets, which need an account to download.
// The number of clients, the bound U and the largest input come from the paper's Table 2.
// Its mean is ours: the error of BBGN that the paper prints is 0.785·U/ε over the sum, up to
// 20 %. Inputs are lognormal, rounded up. The deviation is the one for which the largest
// input of these clients is about the paper's largest input. A larger input is drawn again, and
// one client has the paper's largest input.
type standIn struct {
	name    string
	clients int
	bound   int64
	largest int64
	mean    float64
}

// The data sets of Table 3. Amounts are in thousands of US dollars.
var standIns = []standIn{
	{"SF-Sal, stand-in", 149_000, 250_000, 568, 60},
	{"Ont-Sal, stand-in", 575_000, 250_000, 1750, 125},
	{"BR-Sal, stand-in", 1_090_000, 250_000, 343, 6},
	{"JP-Trad, stand-in", 181_000, 200_000, 2810, 15.6},
}

// deviation is the σ of the logarithm with ln(largest/mean) = z·σ − σ²/2, where z is the
// quantile 1 − 1/n of the normal law.
func (s standIn) deviation() float64 {
	z := distuv.UnitNormal.Quantile(1 - 1/float64(s.clients))
	return z - math.Sqrt(z*z-2*math.Log(float64(s.largest)/s.mean))
}

func (s standIn) draw(rng *rand.Rand) population {
	sigma := s.deviation()
	law := distuv.LogNormal{Mu: math.Log(s.mean) - sigma*sigma/2, Sigma: sigma}
	p := distribution{weights: func(int64) []float64 {
		weights := make([]float64, s.largest)
		for i := range weights {
			weights[i] = law.CDF(float64(i+1)) - law.CDF(float64(i))
		}
		return weights
	}}.draw(s.clients-1, s.bound, rng)
	if last := len(p) - 1; last >= 0 && p[last].Value == s.largest {
		p[last].Clients++
		return p
	}
	return append(p, hdsum.Count{Value: s.largest, Clients: 1})
}
