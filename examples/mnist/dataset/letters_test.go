package dataset

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// Each class is as likely as any other: of 26 a binomial count of mean 100 and deviation 9.8 is off by 6 deviations with probability 6e-9 by the
// normal law, and in 26 classes below 1e-5 by Bernstein's bound. Equal seeds draw equal letters.
func TestLettersAreDrawn(t *testing.T) {
	for _, classes := range []int{2, 26, 62, 1000} {
		l, err := letters(classes)
		if err != nil || l.classes != classes {
			t.Fatalf("%d classes: %d, %v", classes, l.classes, err)
		}
		im, labels, err := drawAll(t.Context(), l, 3, splitTrain, 2600, 2)
		if err != nil {
			t.Fatal(err)
		}
		if least, most := slices.Min(labels), slices.Max(labels); least < 0 || most >= classes || most < classes*9/10 {
			t.Errorf("%d classes: labels from %d to %d", classes, least, most)
		}
		again, same, err := drawAll(t.Context(), l, 3, splitTrain, 20, 1)
		if err != nil || !bytes.Equal(again.Pixels, im.Pixels[:len(again.Pixels)]) || !slices.Equal(same, labels[:20]) {
			t.Errorf("%d classes: other letters with other workers, error %v", classes, err)
		}
		if classes != 26 {
			continue
		}
		var count [26]float64
		for _, label := range labels {
			count[label]++
		}
		for class, n := range count {
			if math.Abs(n-100) > 60 {
				t.Errorf("class %d: %g of 2600 pictures", class, n)
			}
		}
	}
}

// The classes of a task say which pictures it is planned on.
func TestKindsFollowFromTheClasses(t *testing.T) {
	for _, c := range []struct {
		list    string
		classes int
		want    []string
	}{{"", 10, []string{Digits, Textures}}, {"", 5, []string{Digits, Textures}}, {"", 11, []string{Letters}}, {"letters, digits", 10, []string{Letters, Digits}}, {"letters", 1000, []string{Letters}}} {
		if got, err := ParseKinds(c.list, c.classes); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q, %d classes: %v, %v", c.list, c.classes, got, err)
		}
	}
	for list, classes := range map[string]int{"digits": 26, "textures": 11, "clouds": 10, "letters,letters": 26, "letters": 1001, "": 1} {
		var p *fl.ParamError
		if got, err := ParseKinds(list, classes); !errors.As(err, &p) {
			t.Errorf("%q, %d classes: %v, %v", list, classes, got, err)
		}
	}
	for kind, want := range map[string][2]bool{Digits: {true, true}, Textures: {false, false}, Letters: {false, true}} {
		if SameLabels(kind, 10) != want[0] || SameLabels(kind, LetterClasses) != want[1] {
			t.Errorf("%s: another answer than %v", kind, want)
		}
	}
}

// A run starts from the public network where that knows the classes, and from nothing else. The shares that it knows are far from
// 1/10 and 1/26: of 320 pictures half are right.
func TestPublicModelsKnowTheirClasses(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for _, name := range []string{"glyphs", EdgesCentred} {
		f, err := OpenFeatures(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			kind    string
			classes int
			known   bool
		}{{Digits, 10, true}, {Digits, 7, false}, {Textures, 10, false}, {Letters, 10, false}, {Letters, 26, true}, {Letters, 30, false}} {
			p, err := NewPublic(t.Context(), c.kind, c.classes, f, ToPlan, nil)
			if err != nil {
				t.Fatal(err)
			}
			known := c.known && name == "glyphs"
			if p.Examples.Dim() != (f.Dim()+1)*c.classes || slices.Max(p.Labels) >= c.classes || (p.First != nil) != known || (p.ZeroShot > .5) != known || known && len(p.First) != p.Examples.Dim() {
				t.Errorf("%s, %s, %d classes: %d first weights, zero-shot %g, %d weights", name, c.kind, c.classes, len(p.First), p.ZeroShot, p.Examples.Dim())
			}
			held := &Set{Images: make([]float64, 784), Labels: []int{0}, Rows: 28, Cols: 28, Classes: c.classes}
			if _, ok, err := ZeroShot(t.Context(), f, held, nil); err != nil || ok != ((c.classes == 10 || c.classes == 26) && name == "glyphs") {
				t.Errorf("%s, %d classes: known %t, %v", name, c.classes, ok, err)
			}
		}
	}
}
