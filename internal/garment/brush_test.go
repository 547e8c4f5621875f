package garment

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func drawn(class int, seed uint64) []uint8 {
	out := slices.Repeat([]uint8{7}, Side*Side) // whatever was there before
	NewBrush().Draw(out, class, rand.New(rand.NewPCG(seed, uint64(class))))
	return out
}

// A picture depends on its class and its random numbers only, not on what the brush drew before.
func TestDrawDependsOnItsArguments(t *testing.T) {
	b, got := NewBrush(), make([]uint8, Side*Side)
	seen := map[string]bool{}
	for class := range Classes {
		for seed := range uint64(20) {
			b.Draw(got, class, rand.New(rand.NewPCG(seed, uint64(class))))
			if !slices.Equal(got, drawn(class, seed)) {
				t.Fatalf("%s, seed %d: another picture after others", Name(class), seed)
			}
			if seen[string(got)] {
				t.Fatalf("%s, seed %d: a picture came twice", Name(class), seed)
			}
			seen[string(got)] = true
		}
	}
}

// Each thing covers a part of the picture, fits between the borders, and has texture: its
// grey values differ.
func TestThingsFitThePicture(t *testing.T) {
	for class := range Classes {
		for seed := range uint64(200) {
			x := drawn(class, seed)
			covered, border, values := 0, 0, map[uint8]bool{}
			for i, v := range x {
				if v > 0 {
					covered++
					values[v] = true
					if r, c := i/Side, i%Side; r == 0 || c == 0 || r == Side-1 || c == Side-1 {
						border++
					}
				}
			}
			if covered < 40 || covered > 700 || border > 2*Side || len(values) < 5 {
				t.Errorf("%s, seed %d: %d pixels, %d at the border, %d grey values", Name(class), seed, covered, border, len(values))
			}
		}
	}
}

// Long sleeves reach lower than short ones, boots are higher than sneakers, trousers have a gap between their legs: the
// mean pictures of the classes are apart.
func TestClassesHaveTheirShapes(t *testing.T) {
	const n = 400
	var mean [Classes][Side * Side]float64
	for class := range Classes {
		for seed := range uint64(n) {
			for i, v := range drawn(class, seed) {
				if v > 0 {
					mean[class][i] += 1. / n
				}
			}
		}
	}
	at := func(name string, row, col int) float64 {
		for class := range Classes {
			if Name(class) == name {
				return mean[class][row*Side+col]
			}
		}
		t.Fatalf("no class %s", name)
		return 0
	}
	for _, c := range []struct {
		what       string
		more, less float64 // share of pictures with ink there; 5 deviations of a difference are at most 5·√(2·.25/n) = 0.18
	}{
		{"the end of a sleeve", at("pullover", 20, 3), at("t-shirt", 20, 3)},
		{"the shaft of a shoe", at("boot", 6, 21), at("sneaker", 6, 21)},
		{"between the legs", at("dress", 24, 14), at("trousers", 24, 13)},
		{"the middle of a bag", at("bag", 16, 4), at("sandal", 16, 4)},
	} {
		if c.more < c.less+.3 {
			t.Errorf("%s: in %.2f and %.2f of the pictures", c.what, c.more, c.less)
		}
	}
}

// Cloth is seen: within bodies of one class, neighbouring pixels differ much more with a pattern than without.
func TestClothHasItsPattern(t *testing.T) {
	m := measure{rand.New(rand.NewPCG(1, 2))}
	kindsSeen := map[bool]int{}
	for range 300 {
		w := m.weave(0)
		sum := 0.
		for y := 4.; y < 24; y++ {
			for x := 4.; x < 24; x++ {
				d := w(x+1, y) - w(x, y)
				e := w(x, y+1) - w(x, y)
				sum += d*d + e*e
			}
		}
		kindsSeen[sum/400 > .01]++
	}
	// About half is plain or changes slowly. 300 draws stay within 5 deviations, 5·√(300/4) = 43, of their mean.
	if kindsSeen[true] < 60 || kindsSeen[false] < 60 {
		t.Errorf("%v of 300 cloths have a pattern", kindsSeen)
	}
}

func BenchmarkDraw(b *testing.B) {
	brush, out, rng := NewBrush(), make([]uint8, Side*Side), rand.New(rand.NewPCG(1, 1))
	for i := 0; b.Loop(); i++ {
		brush.Draw(out, i%Classes, rng)
	}
}

// Cloth covers the whole picture, depends on its arguments only, and kinds differ: of one random stream no two are alike.
func TestClothCoversThePicture(t *testing.T) {
	b, seen := NewBrush(), map[string]bool{}
	for kind := range Cloths {
		for seed := range uint64(50) {
			got, again := slices.Repeat([]uint8{7}, Side*Side), make([]uint8, Side*Side)
			b.DrawCloth(got, kind, rand.New(rand.NewPCG(seed, 9)))
			if b.DrawCloth(again, kind, rand.New(rand.NewPCG(seed, 9))); !slices.Equal(got, again) {
				t.Fatalf("kind %d, seed %d: another picture the second time", kind, seed)
			}
			dark := 0
			for _, v := range got {
				if v == 0 {
					dark++
				}
			}
			if dark > Side*Side/2 || seen[string(got)] {
				t.Errorf("kind %d, seed %d: %d pixels are black, or the picture came twice", kind, seed, dark)
			}
			seen[string(got)] = true
		}
	}
}
