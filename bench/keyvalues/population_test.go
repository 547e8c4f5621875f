package keyvalues

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// What the population says it holds is what its clients hold.
func TestPopulationKnowsItself(t *testing.T) {
	p := newPopulation(500, 40, 3, rand.New(rand.NewChaCha8([32]byte{7})))
	held, sum := make([]float64, 40), make([]float64, 40)
	if p.clients() != 500 {
		t.Fatalf("%d clients, want 500", p.clients())
	}
	for client := range 500 {
		pairs, x := p.pairs(nil, client), p.ternary(client)
		if len(pairs) != 3 {
			t.Fatalf("%d pairs, want 3", len(pairs))
		}
		for i, q := range pairs {
			if i > 0 && pairs[i-1].Key >= q.Key || math.Abs(q.Value) != 1 {
				t.Fatalf("pairs %v", pairs)
			}
			if x.Index[i] != q.Key || float64(x.Sign[i]) != q.Value {
				t.Fatalf("vector %v, pairs %v", x, pairs)
			}
			held[q.Key] += 1. / 500
			sum[q.Key] += q.Value / 500
		}
	}
	for k := range held {
		if math.Abs(held[k]-p.held[k]) > 1e-12 || math.Abs(sum[k]-p.sum[k]) > 1e-12 {
			t.Errorf("key %d: %g and %g, want %g and %g", k, p.held[k], p.sum[k], held[k], sum[k])
		}
	}
}

// All sets of keys with all signs are equally likely: a chi-square test over the C(5, 2)·4 = 40 vectors
// with 40 000 clients, which fails by chance with probability 1e-6.
func TestClientsHaveUniformKeysAndSigns(t *testing.T) {
	const clients = 40_000
	p := newPopulation(clients, 5, 2, rand.New(rand.NewChaCha8([32]byte{7})))
	counts := map[[4]int]float64{}
	for client := range clients {
		x := p.ternary(client)
		counts[[4]int{int(x.Index[0]), int(x.Index[1]), int(x.Sign[0]), int(x.Sign[1])}]++
	}
	square := 0.0
	for _, n := range counts {
		square += (n - clients/40) * (n - clients/40) / (clients / 40)
	}
	if p := (distuv.ChiSquared{K: 39}).Survival(square); len(counts) != 40 || p < 1e-6 {
		t.Errorf("%d vectors, chi-square %.0f, p = %g", len(counts), square, p)
	}
}
