package sparse

import (
	"fmt"
	"math/bits"

	"github.com/hushgrad/hushgrad/internal/slothash"
)

// acceptableLoss is the loss of accuracy from which on a round is commented.
const acceptableLoss = 0.05

// Advise compares the number of slots of a point with the best one of the ideal
// family and says what would be better, when that is worth saying.
func Advise(p Point, best func(Point) (int, error), mse func(Point) (float64, error)) []string {
	here, err := mse(p)
	if err != nil {
		return nil
	}
	ideal := p.with(slothash.Ideal)
	if ideal.Slots, err = best(ideal); err != nil {
		return nil
	}
	least, err := mse(ideal)
	if err != nil || here <= least*(1+acceptableLoss) {
		return nil
	}
	advice := fmt.Sprintf("%d slots give %.0f %% more squared error than the best number, %d with hash %q",
		p.Slots, 100*(here/least-1), ideal.Slots, slothash.Ideal)
	if p.Hash == slothash.GF2 {
		power := 1 << bits.Len(uint(p.Sparsity))
		advice += fmt.Sprintf("; hash %q has powers of two only, which suit a sparsity of %d or %d better than %d",
			slothash.GF2, max(1, power/2-1), power-1, p.Sparsity)
	}
	return []string{advice}
}

func (p Point) with(hash string) Point {
	p.Hash = hash
	return p
}
