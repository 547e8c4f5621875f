// Package crowd rounds the number of reports that clients are shown, so that nobody sees single
// submissions arrive. Use it in every role that answers GetRound. Start with [Bucket].
package crowd

// Bucket rounds a count down to 0 or to 1, 2 or 5 times a power of ten.
func Bucket(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		if n < 10*unit {
			for _, step := range []int64{5, 2, 1, 0} {
				if n >= step*unit {
					return step * unit
				}
			}
		}
	}
}
