package recipe

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/trainer/features"
)

// A last layer for letters follows from the fonts, the network and the number of pictures, and has a row for each value and the biases.
func TestLetterHeadFollowsFromTheRecipe(t *testing.T) {
	network, err := features.GlyphNetwork(features.GlyphsSmall)
	if err != nil {
		t.Fatal(err)
	}
	of := func(seed uint64, count int) []byte {
		file, err := LetterHead(t.Context(), testSet(t, seed), network, count)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	first := of(1, 400)
	if len(first) != 2*26*65 || !bytes.Equal(of(1, 400), first) || bytes.Equal(of(2, 400), first) || bytes.Equal(of(1, 800), first) {
		t.Errorf("%d bytes, which other arguments give, too, or equal ones do not", len(first))
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LetterHead(ended, testSet(t, 1), network, 400); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

// A letter's class is its place in the alphabet, whether it is a capital or not: both are drawn, and the two have the same label.
func TestLettersOfEitherCaseAreOneClass(t *testing.T) {
	set := testSet(t, 1)
	both := *set
	for i := range both.faces { // capitals alone, and small letters alone
		if i >= Digits+LetterClasses {
			both.faces[i] = set.faces[i-LetterClasses]
		}
	}
	pencil, a, b := NewPencil(), make([]float64, 784), make([]float64, 784)
	differ := 0
	for i := range uint64(40) {
		if x, y := pencil.DrawLetter(a, set, i), pencil.DrawLetter(b, &both, i); x != y || x < 0 || x >= LetterClasses {
			t.Fatalf("classes %d and %d", x, y)
		}
		for k := range a {
			if a[k] != b[k] {
				differ++
				break
			}
		}
	}
	if differ < 5 || differ > 35 { // of 40 tosses of a coin; the set is seeded
		t.Errorf("%d of 40 letters are small ones", differ)
	}
}
