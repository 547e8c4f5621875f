package fl

// Series is one estimated number per coordinate, with its standard error.
type Series struct {
	Value  []float64 // length Round.Dim
	StdErr []float64 // length Round.Dim
}

// Estimate is what a closed round tells: the mean of the clients' (clipped)
// gradients and how far off it may be.
type Estimate struct {
	// Series holds the mean in units of the gradient. It is unbiased for the
	// mean of the clipped gradients; the standard errors cover the privacy noise
	// and the sampling of coordinates.
	Series
	// Reports is the number of reports behind it.
	Reports int64
	// Mechanism is the registered name.
	Mechanism string
	// Guarantee is what each report promised its sender; with tiers the weakest of
	// what they promised.
	Guarantee Guarantee
	// Tiers says how the tiers of a TieredMechanism were combined; nil without.
	Tiers []TierEstimate
}
