package fl

import "math/rand/v2"

// TieredMechanism lets every client choose how much it tells: a round offers a menu
// of guarantees. Its Guarantee, and what Encode gives, is the strictest of them.
type TieredMechanism interface {
	Mechanism
	// Tiers is the menu, the strictest guarantee first.
	Tiers() []Guarantee
	// EncodeTier is Encode under the guarantee Tiers()[tier]. The choice is public: it
	// is a part of the report.
	EncodeTier(dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error)
}

// TierEstimate is the part of one tier in an estimate.
type TierEstimate struct {
	Guarantee Guarantee
	Reports   int64
	// Weight is that of the tier's mean in the combined one; the weights sum to 1.
	Weight float64
}
