package main

import (
	"slices"
	"testing"
)

// both lists the Prio3 contenders. Each encodes a measurement in 2·dim = 100 field
// elements.
func both(t *testing.T) map[string]contender {
	return map[string]contender{"sumvec": open(t, newSumVec), "histogram": open(t, newHistogram)}
}

// The sizes of draft-irtf-cfrg-vdaf: with 16-byte elements, 32-byte seeds, m
// elements, chunks of c and p the power of two from 1+⌈m/c⌉ on, the proof has
// 2c + 2(p−1) + 1 elements and the verifier 2 + 2c.
func TestPrio3MessagesHaveTheSizesOfTheDraft(t *testing.T) {
	const m, c, p = 100, 10, 16
	for name, contender := range both(t) {
		r, err := contender.encode(sample(1)[0])
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for _, part := range r.parts {
			sizes = append(sizes, len(part))
		}
		want := []int{2 * 32, 16*(m+2*c+2*(p-1)+1) + 32, 2 * 32} // public share, leader, helper
		if !slices.Equal(sizes, want) {
			t.Errorf("%s: parts of %v bytes, want %v", name, sizes, want)
		}
		if r.bytes() != want[0]+want[1]+want[2] || len(r.nonce) != 16 {
			t.Errorf("%s: %d bytes and a nonce of %d, want the parts without the nonce of 16", name, r.bytes(), len(r.nonce))
		}
		if got, want := contender.about().Between, 16*(2+2*c)+32+32; got != want {
			t.Errorf("%s: %d bytes between the aggregators, want %d", name, got, want)
		}
	}
}

// A report that was tampered with is refused and leaves no trace.
func TestPrio3RefusesBadReports(t *testing.T) {
	for name, c := range both(t) {
		x := sample(1)[0]
		send(t, c, x)
		before := sumOf(t, c)
		for what, spoil := range map[string]func(*report){
			"leader's share": func(r *report) { r.parts[1][0] ^= 1 },
			"helper's share": func(r *report) { r.parts[2][0] ^= 1 },
			"public share":   func(r *report) { r.parts[0][0] ^= 1 },
			"nonce":          func(r *report) { r.nonce[0] ^= 1 },
			"short share":    func(r *report) { r.parts[1] = r.parts[1][1:] },
			"short nonce":    func(r *report) { r.nonce = r.nonce[1:] },
			"missing part":   func(r *report) { r.parts = r.parts[:2] },
		} {
			r, err := c.encode(x)
			if err != nil {
				t.Fatal(err)
			}
			spoil(&r)
			if err := c.add(r); err == nil {
				t.Errorf("%s, %s: no error", name, what)
			}
		}
		if after := sumOf(t, c); !slices.Equal(before, after) {
			t.Errorf("%s: refused reports changed the sum from %v to %v", name, before, after)
		}
	}
}

func TestSumVecSumsExactly(t *testing.T) { sumsExactly(t, open(t, newSumVec), sample(4)) }
