package rivals

import (
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// CompleteRound returns a complete round of one mechanism with the scale 1.
func CompleteRound(t testing.TB, mechanism string, dim int, epsilon float64, params fl.Params) fl.Round {
	t.Helper()
	r, _, err := fl.Complete(fl.Round{
		ID: "test", Mechanism: mechanism, Dim: dim, Scale: 1, Epsilon: epsilon, MinReports: 1, Params: params,
		PublicSeed: [32]byte{1, byte(dim)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
