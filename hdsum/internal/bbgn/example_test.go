package bbgn_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/hdsum/internal/bbgn"
)

// Three clients sum up. Every message alone is a uniform residue.
func Example() {
	p, err := bbgn.New(bbgn.Config{Clients: 3, Bound: 100, Epsilon: 2000, Delta: 1e-6}) // so large an ε that there is no noise to see
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1})) // seeded because this is an example
	var messages []uint64
	for _, x := range []int64{3, 100, 20} {
		if messages, err = p.Encode(messages, x, rng); err != nil {
			log.Fatal(err)
		}
	}
	rng.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
	var sum uint64
	for _, message := range messages {
		sum = p.Add(sum, message)
	}
	fmt.Println(p.Decode(sum))
	// Output: 123
}
