package main

import (
	"slices"
	"testing"
)

func TestDenseSumsExactly(t *testing.T) { sumsExactly(t, open(t, newDense), sample(4)) }

func TestDenseRefusesBadReports(t *testing.T) {
	c := open(t, newDense)
	x := sample(1)[0]
	send(t, c, x)
	before := sumOf(t, c)
	larger, err := newDense(task{Dim: small.Dim + 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	smaller, err := newDense(task{Dim: small.Dim - 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x.Index, x.Sign = []uint32{0}, []int8{1}
	for _, other := range []contender{larger, smaller} {
		r, err := other.encode(x)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.add(r); err == nil {
			t.Errorf("a vector of another dimension: no error")
		}
	}
	if err := c.add(report{parts: [][]byte{[]byte("not zstd")}}); err == nil {
		t.Error("bytes that are not zstd: no error")
	}
	if after := sumOf(t, c); !slices.Equal(before, after) {
		t.Errorf("refused reports changed the sum from %v to %v", before, after)
	}
}
