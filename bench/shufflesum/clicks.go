package shufflesum

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/internal/sample"
)

// clicks is a stand-in for the clicks of the first 50 000 users in a search log that its
// publisher withdrew, with 1.6 million pages merged by hundreds into 16 000 items. The number
// of items of a client is lognormal with the median 12 and a standard deviation of 0.58 of
// its logarithm, at most the number of items, so that few clients have more than 128. The k-th
// item has popularity 1/(k + 9.5): the first one is then held by about a sixth of the clients. The
// three constants are ours. They follow from the errors that the paper prints, which need a largest
// count of 7300 to 8800 and a largest class of 64 or 128 items.
func clicks(n, dim int, rng *rand.Rand) ([][]int, []float64, error) {
	popularity := make([]float64, dim)
	for i := range popularity {
		popularity[i] = 1 / (float64(i+1) + 9.5)
	}
	item, err := sample.NewAlias(popularity)
	if err != nil {
		return nil, nil, err
	}
	clients, counts := make([][]int, n), make([]float64, dim)
	for i := range clients {
		want := min(max(int(math.Round(12*math.Exp(0.58*rng.NormFloat64()))), 1), dim)
		clients[i] = distinct(want, item, rng)
		for _, k := range clients[i] {
			counts[k]++
		}
	}
	return clients, counts, nil
}

// distinct draws items until that number of them differ, and returns those in ascending order. Once 20
// times as many have been drawn, it is content with fewer.
func distinct(want int, item *sample.Alias, rng *rand.Rand) []int {
	held := make(map[int]bool, want)
	items := make([]int, 0, want)
	for tries := 0; len(items) < want && tries < 20*want; tries++ {
		if i := item.Rand(rng); !held[i] {
			held[i] = true
			items = append(items, i)
		}
	}
	slices.Sort(items)
	return items
}
