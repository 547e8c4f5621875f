package keyvalue

// Channel holds what a perturbation does to one key, in the notation of Algorithms 2
// and 3: a sent pair shows its key with probability a, and then the right sign with
// probability p; any other key shows with probability b, with a fair sign. All formulas
// need the differences, which are small and lose no digits this way.
//
// The methods are plain formulas and check nothing: padding is ℓ ≥ 1, f in [0, 1] (above
// 0 for MeanMSE and MeanBias) the share of clients with the key, m in [−1, 1] the mean of their
// values, n ≥ 1 the number of clients. All are O(1).
type Channel struct {
	Background float64 // b
	Hold       float64 // a − b
	Sign       float64 // a(2p − 1), the expected sign that a sent + shows
}

// FrequencyMSE is equation (9) of Theorem 4: the mean squared error of the
// frequency f of one key, of n clients, for given sampled pairs. ℓ = padding.
func (c Channel) FrequencyMSE(padding int, f, n float64) float64 {
	share := f / float64(padding)
	return (share*c.held() + (1-share)*c.empty()) / (c.gain(padding) * n)
}

// FrequencyVariance is the variance of the same estimate for given clients of at most
// ℓ pairs: with the sampling of the pair, f(ℓ−1)/n more than FrequencyMSE.
func (c Channel) FrequencyVariance(padding int, f, n float64) float64 {
	return c.FrequencyMSE(padding, f, n) + f*float64(padding-1)/n
}

// MeanVariance is the variance of the estimated sum of a key's values over n clients,
// divided by n, when n clients of at most ℓ pairs hold it independently with probability
// f and their values average m. It bounds the variance for given clients.
func (c Channel) MeanVariance(padding int, f, m, n float64) float64 {
	l := float64(padding)
	show := c.Background + c.Hold*f/l
	return (show*l*l/(c.Sign*c.Sign) - f*m*f*m) / n
}

// MeanMSE is the mean squared error of the mean m among the clients that hold a key,
// before the corrections: the error that Theorem 4, (11), approximates, to first order
// in 1/n (the delta method), for given sampled pairs and signs. It is large for rare
// keys, where the corrected estimate is bounded and better.
func (c Channel) MeanMSE(padding int, f, m, n float64) float64 {
	l := float64(padding)
	share, show := f/l, c.Hold+c.Background
	// Of one report: the sign that the key shows, and whether it shows.
	sign := share*(show-c.Sign*c.Sign) + (1-share)*c.Background
	both := share * m * c.Sign * (1 - show)
	shows := share*c.held() + (1-share)*c.empty()
	ratio := c.Sign * m / c.Hold
	return (sign - 2*ratio*both + ratio*ratio*shows) / (n * share * share * c.Sign * c.Sign)
}

// MeanBias is the bias of the same estimate to first order in 1/n, equation (10) of Theorem 4 less m.
func (c Channel) MeanBias(padding int, f, m, n float64) float64 {
	delta := c.Hold * f / float64(padding)
	return m * (1 - c.Background - delta) * c.Background / (n * delta * delta)
}

// Estimate is Algorithm 4 for one key that plus and minus of n reports show with either sign: its
// frequency, which is not corrected, and the mean of its values among the clients that hold it, in
// [−1, 1].
func (c Channel) Estimate(padding int, plus, minus, n float64) (frequency, mean float64) {
	l := float64(padding)
	sum := plus + minus - n*c.Background // ≈ the clients that sent the key, times Hold
	difference := plus - minus
	frequency = l * sum / (n * c.Hold)
	senders := n * min(max(frequency, 1/n), 1) / l
	first := min(max((sum/c.Hold+difference/c.Sign)/2, 0), senders)
	second := min(max((sum/c.Hold-difference/c.Sign)/2, 0), senders)
	return frequency, (first - second) / senders
}

// held is the variance of whether the key of a sent pair shows, empty the variance of whether
// another key shows.
func (c Channel) held() float64 {
	a := c.Background + c.Hold
	return a * (1 - a)
}

func (c Channel) empty() float64 { return c.Background * (1 - c.Background) }

func (c Channel) gain(padding int) float64 {
	g := c.Hold / float64(padding)
	return g * g
}
