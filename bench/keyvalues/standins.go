package keyvalues

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/internal/sample"
)

// standIn is a data set of the paper's Table 1, which cannot be had without an account or a licence, and
// the law of what takes its place: the same numbers of ratings, users and keys.
type standIn struct {
	name                 string
	ratings, users, keys int
	padding              int // ℓ of the paper
	// flat makes the popularity of the key of rank r proportional to 1/(r + flat).
	flat float64
}

var standIns = []standIn{
	{"E-commerce", 23_486, 23_486, 1_206, 1, 3},
	{"Clothing", 192_544, 105_508, 5_850, 2, 15},
	{"Amazon", 2_023_070, 1_210_271, 249_274, 2, 30},
	{"Movie", 20_000_263, 138_493, 26_744, 100, 50},
}

// lawOfStandIns says in words how a stand-in is drawn.
const lawOfStandIns = "The data sets are stand-ins with the numbers of ratings, users and keys of the paper's Table 1. Every user has one rating, and the others are geometric in number. Keys are drawn by popularity, proportional to 1/(rank + q), without repetition, with q = 3, 15, 30 and 50. A key has a mean of stars from N(3.8, 0.6²), a rating is that mean with a deviation from N(0, 1), rounded to 1 to 5 stars, which are scaled to [−1, 1]."

// smaller is the stand-in with a share of its users and ratings.
func (s standIn) smaller(by int) standIn {
	s.ratings, s.users = s.ratings/by, s.users/by
	return s
}

// open draws the data. O(ratings), and memory of 8 bytes for each.
func (s standIn) open(rng *rand.Rand) (dataset, error) {
	popularity := make([]float64, s.keys)
	mean := make([]float64, s.keys)
	for k := range popularity {
		popularity[k] = 1 / (float64(k+1) + s.flat)
		mean[k] = 3.8 + 0.6*rng.NormFloat64()
	}
	keys, err := sample.NewAlias(popularity)
	if err != nil {
		return nil, err
	}
	p := &ratings{dim: s.keys, first: make([]int, 1, s.users+1), pairs: make([]rating, 0, s.ratings+s.ratings/50)}
	more := float64(s.ratings)/float64(s.users) - 1 // the mean of the others
	has := make([]int, s.keys)                      // the last client with the key, from 1 on
	for client := range s.users {
		n := 1
		if more > 0 {
			// A geometric number from an exponential one: P[at least k more] = (more/(1+more))^k.
			n += int(rng.ExpFloat64() / math.Log1p(1/more))
		}
		for range min(n, s.keys/4) {
			k := keys.Rand(rng)
			for has[k] == client+1 {
				k = keys.Rand(rng)
			}
			has[k] = client + 1
			stars := min(max(math.Round(mean[k]+rng.NormFloat64()), 1), 5)
			p.pairs = append(p.pairs, rating{uint32(k), float32((stars - 3) / 2)})
		}
		own := p.pairs[p.first[client]:]
		slices.SortFunc(own, func(a, b rating) int { return cmp.Compare(a.key, b.key) })
		p.first = append(p.first, len(p.pairs))
	}
	return p, nil
}

func (s standIn) String() string {
	return fmt.Sprintf("%s: about %d ratings, %d users, %d keys, ℓ = %d", s.name, s.ratings, s.users, s.keys, s.padding)
}
