package privacy

import "math"

// erlingsson is the main theorem of Erlingsson, Feldman, Mironov, Raghunathan, Talwar and
// Thakurta, "Amplification by Shuffling: From Local to Central Differential Privacy via
// Anonymity", SODA 2019: ε_c = 12ε·√(log(1/δ)/n) for n > 1000, ε < 1/2 and δ < 1/100.
func erlingsson(epsilon float64) Comparison {
	const name = "Erlingsson et al. 2019"
	return newComparison(name, "Erlingsson et al., SODA 2019", Proved,
		func(n int, delta float64) (float64, error) {
			switch {
			case !(epsilon < 0.5):
				return 0, outOfRange(name, "epsilon", epsilon, "below 0.5")
			case n <= 1000:
				return 0, outOfRange(name, "number of users", n, "above 1000")
			case !(delta < 0.01):
				return 0, outOfRange(name, "delta", delta, "below 0.01")
			}
			return math.Min(epsilon, 12*epsilon*math.Sqrt(-math.Log(delta)/float64(n))), nil
		})
}
