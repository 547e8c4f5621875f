package keyvalues

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// ratings is clients with any number of pairs.
type ratings struct {
	dim int
	// first is where the pairs of each client begin, and after the last client their number. The
	// pairs of a client are sorted by key, and no key comes twice.
	first []int
	pairs []rating
}

// rating is a key and its value in [−1, 1].
type rating struct {
	key   uint32
	value float32
}

func (p *ratings) clients() int { return len(p.first) - 1 }

// of are the pairs of a client.
func (p *ratings) of(client int) []rating { return p.pairs[p.first[client]:p.first[client+1]] }

// send implements crowd. O(clients).
func (p *ratings) send(padding int, rng *rand.Rand) (plus, minus []int) {
	plus, minus = make([]int, p.dim), make([]int, p.dim)
	for client := range p.clients() {
		own := p.of(client)
		if i := rng.IntN(max(padding, len(own))); i < len(own) {
			own[i].vote(plus, minus, rng)
		}
	}
	return plus, minus
}

// ask implements crowd. O(clients·log pairs of one).
func (p *ratings) ask(rng *rand.Rand) (plus, minus, absent []int) {
	plus, minus, absent = make([]int, p.dim), make([]int, p.dim), make([]int, p.dim)
	for client := range p.clients() {
		own, key := p.of(client), rng.Uint32N(uint32(p.dim))
		if at, held := slices.BinarySearchFunc(own, key, func(r rating, key uint32) int { return cmp.Compare(r.key, key) }); held {
			own[at].vote(plus, minus, rng)
		} else {
			absent[key]++
		}
	}
	return plus, minus, absent
}

// vote rounds the value to + or − and counts it.
func (r rating) vote(plus, minus []int, rng *rand.Rand) {
	if rng.Float64() < (1+float64(r.value))/2 {
		plus[r.key]++
	} else {
		minus[r.key]++
	}
}

// truth are the true frequencies and means.
func (p *ratings) truth() *truth {
	t := &truth{frequency: make([]float64, p.dim), mean: make([]float64, p.dim)}
	for _, r := range p.pairs {
		t.frequency[r.key]++
		t.mean[r.key] += float64(r.value)
	}
	for k, n := range t.frequency {
		if n > 0 {
			t.mean[k] /= n
			t.frequency[k] = n / float64(p.clients())
		}
	}
	return t.ranked()
}

// keyValues appends the pairs of a client as its encoder takes them.
func (p *ratings) keyValues(dst []fl.KeyValue, client int) []fl.KeyValue {
	for _, r := range p.of(client) {
		dst = append(dst, fl.KeyValue{Key: r.key, Value: float64(r.value)})
	}
	return dst
}

// sizeQuantile is the least number of pairs that a share of the clients does not exceed.
func (p *ratings) sizeQuantile(share float64) int {
	sizes := make([]int, p.clients())
	for client := range sizes {
		sizes[client] = len(p.of(client))
	}
	slices.Sort(sizes)
	at := int(share * float64(len(sizes)))
	return sizes[min(at, len(sizes)-1)]
}
