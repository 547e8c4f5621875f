package main

import (
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// With one coordinate per client nothing is left out.
func TestHistogramSumsOneSparseVectorsExactly(t *testing.T) {
	one := task{Dim: small.Dim, Sparsity: 1, Epsilon: small.Epsilon}
	sumsExactly(t, open(t, newHistogram), vectors(one, 6, rand.New(source(5))))
}

// Every client adds exactly one of its own coordinates, with its sign, and every
// one of them has its turn: that 60 clients miss one of 4 coordinates has
// probability below 4·0.75^60 < 2e-7.
func TestHistogramSendsOneOfTheCoordinates(t *testing.T) {
	c := open(t, newHistogram)
	x := sample(1)[0]
	const n = 60
	for range n {
		send(t, c, x)
	}
	got, own := sumOf(t, c), total([]fl.Ternary{x})
	sent := 0.0
	for j, v := range got {
		if v*own[j] < 0 || (own[j] == 0) != (v == 0) {
			t.Errorf("coordinate %d: got %g from clients that hold %g", j, v, own[j])
		}
		sent += v * own[j]
	}
	if sent != n {
		t.Errorf("%d clients sent %g coordinates", n, sent)
	}
}
