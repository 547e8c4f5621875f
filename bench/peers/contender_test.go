package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// small is a task for which every contender is fast.
var small = task{Dim: 50, Sparsity: 4, Epsilon: 5}

func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// sample draws vectors of the small task.
func sample(n int) []fl.Ternary { return vectors(small, n, rand.New(source(3))) }

func open(t *testing.T, open func(task, *rand.ChaCha8) (contender, error)) contender {
	t.Helper()
	c, err := open(small, source(4))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// send encodes a vector and adds the report.
func send(t *testing.T, c contender, x fl.Ternary) {
	t.Helper()
	r, err := c.encode(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.add(r); err != nil {
		t.Fatal(err)
	}
}

func sumOf(t *testing.T, c contender) []float64 {
	t.Helper()
	got, err := c.sum()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// total is the true sum.
func total(xs []fl.Ternary) []float64 {
	out := make([]float64, small.Dim)
	for _, x := range xs {
		for i, j := range x.Index {
			out[j] += float64(x.Sign[i])
		}
	}
	return out
}

// sumsExactly sends a few vectors and wants their exact sum, twice.
func sumsExactly(t *testing.T, c contender, xs []fl.Ternary) {
	t.Helper()
	for n, x := range xs {
		send(t, c, x)
		if got, want := sumOf(t, c), total(xs[:n+1]); !slices.Equal(got, want) {
			t.Fatalf("sum of %d vectors: got %v, want %v", n+1, got, want)
		}
	}
}

func TestVectorsHaveTheTasksShape(t *testing.T) {
	signs := map[int8]bool{}
	for _, x := range sample(20) {
		if err := x.Validate(small.Dim, small.Sparsity); err != nil {
			t.Fatal(err)
		}
		seen := map[uint32]bool{}
		for i, j := range x.Index {
			if seen[j] || int(j) >= small.Dim {
				t.Fatalf("index %d: repeated or a dummy", j)
			}
			seen[j], signs[x.Sign[i]] = true, true
		}
	}
	if len(signs) != 2 {
		t.Errorf("signs drawn: %v, want both", signs)
	}
}

func TestContendersComeInTheOrderOfTheTable(t *testing.T) {
	all, err := contenders(small, source(4))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range all {
		names = append(names, c.about().Name)
	}
	want := []string{all[0].about().Name, `CoCo, hash "ideal" (paper)`, "Prio3SumVec (circl)", "Prio3Histogram (circl)", "dense float32, zstd"}
	if !slices.Equal(names, want) {
		t.Errorf("contenders %q, want %q", names, want)
	}
	if _, err := contenders(task{Dim: 3, Sparsity: 4, Epsilon: 5}, source(4)); err == nil {
		t.Error("4 non-zeros among 3 coordinates: no error")
	}
}
