package ternarize

// Chances writes into dst, of dim numbers, the probability of each coordinate to be drawn, with the coordinate's sign: what Sample returns on
// average, and the clipped gradient over τ. Errors are Sample's. O(d).
func (s *Sampler) Chances(dst, grad []float64) error {
	if len(dst) != s.dim {
		return invalid("dst", len(dst), "must have dim = %d coordinates", s.dim)
	}
	period, err := weigh(s, grad)
	if err != nil {
		return err
	}
	for j, g := range grad {
		dst[j] = float64(signOf(g)) * float64(s.rule.weight(g)) / float64(period)
	}
	return nil
}
