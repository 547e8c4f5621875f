package crowd

import "testing"

func TestCountsForClientsAreRoundedDown(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 1: 1, 2: 2, 4: 2, 5: 5, 9: 5, 10: 10, 19: 10, 20: 20, 49: 20, 99: 50, 100: 100, 999_999_999: 500_000_000, 1_000_000_000: 1_000_000_000} {
		if got := Bucket(n); got != want {
			t.Errorf("Bucket(%d) = %d, want %d", n, got, want)
		}
	}
}
