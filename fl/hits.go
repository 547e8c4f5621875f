package fl

// HitMechanism is implemented by mechanisms whose reports each count for one number, for its opposite or for nothing at each coordinate. What
// honest clients send can then be foreseen, and compared: trainer.PublicAlarm does.
type HitMechanism interface {
	Mechanism
	Swayer // what a report counts for: Sway, −Sway or 0
	// AddHits adds to plus and minus, of Round.Dim numbers each, the probabilities that a report of a client with the gradient grad counts for Sway and for
	// −Sway at each coordinate. Sway times their difference is the clipped gradient. They are the same in all rounds that differ in
	// PublicSeed alone. The error wraps errors.ErrUnsupported where PublicSeed moves them. O(Dim).
	AddHits(plus, minus, grad []float64) error
}
