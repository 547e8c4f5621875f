package server

import "testing"

// The content of a batch is its reports, not their bytes run together.
func TestContentOf(t *testing.T) {
	b := func(s string) []byte { return []byte(s) }
	batches := [][][]byte{
		{b("ab"), b("c")}, {b("a"), b("bc")}, {b("abc")}, {b("c"), b("ab")}, {b("ab"), b("c"), b("")}, {},
	}
	seen := map[[32]byte]int{}
	for i, reports := range batches {
		sum := contentOf(reports)
		if j, taken := seen[sum]; taken {
			t.Errorf("%q and %q have the same content", batches[j], reports)
		}
		seen[sum] = i
		if contentOf(reports) != sum {
			t.Errorf("%q has two contents", reports)
		}
	}
}
