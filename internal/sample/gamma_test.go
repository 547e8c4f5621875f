package sample

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestGammaFollowsItsLaw(t *testing.T) {
	rng := newRand()
	for _, a := range []float64{0.02, 0.5, 0.999, 1, 2.5, 88, 1e4} {
		law := distuv.Gamma{Alpha: a, Beta: 1}
		requireContinuousLaw(t, fmt.Sprintf("shape %g", a), draws, func() float64 { return gamma(rng, a) }, law.CDF)
	}
}
