package recipe

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/garment"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
)

// testSet has two fonts that need no network.
func testSet(t testing.TB, seed uint64) *Set {
	t.Helper()
	s := &Set{seed: seed, key: forTraining}
	for _, ttf := range [][]byte{goregular.TTF, gobold.TTF} {
		if err := s.add(ttf); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

var tiny = Settings{Size: Size{Name: "tiny", Channels: [3]int{2, 3, 2}, Width: 5}, Stages: 2, Steps: 3, Batch: 6, Rate: 0.01, Jobs: 1}

func always(_ string, compute func() ([]float64, error)) ([]float64, error) { return compute() }

// made is the file of weights of a small run of the whole recipe.
func made(t *testing.T, seed uint64, s Settings) []byte {
	t.Helper()
	set := testSet(t, seed)
	params, err := Train(t.Context(), set, s, always, func() {})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Finish(set, s.Size, params, 40)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := n.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// The weights follow from the recipe: the same bytes each time, whatever the number of
// goroutines, and others from another seed or a longer run.
func TestWeightsFollowFromTheRecipe(t *testing.T) {
	first := made(t, 1, tiny)
	parallel, longer := tiny, tiny
	parallel.Jobs, longer.Steps = 3, 4
	if !bytes.Equal(made(t, 1, tiny), first) || !bytes.Equal(made(t, 1, parallel), first) {
		t.Error("the same recipe made other weights")
	}
	if bytes.Equal(made(t, 2, tiny), first) || bytes.Equal(made(t, 1, longer), first) {
		t.Error("another recipe made the same weights")
	}
}

// A run that goes on from the weights after a stage ends like one that was not interrupted.
func TestTrainGoesOn(t *testing.T) {
	kept := map[string][]float64{}
	keep := func(stage string, compute func() ([]float64, error)) ([]float64, error) {
		if old, ok := kept[stage]; ok {
			return old, nil
		}
		params, err := compute()
		if err == nil {
			kept[stage] = slices.Clone(params)
		}
		return params, err
	}
	ctx, stop := context.WithCancel(t.Context())
	steps := 0
	_, err := Train(ctx, testSet(t, 1), tiny, keep, func() {
		if steps++; steps == tiny.Steps+1 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || len(kept) != 1 {
		t.Fatalf("%v after %d stages, want an interruption after one", err, len(kept))
	}
	again, err := Train(t.Context(), testSet(t, 1), tiny, keep, func() { steps++ })
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Train(t.Context(), testSet(t, 1), tiny, always, func() {})
	if err != nil || !slices.Equal(again, whole) || steps != 2*tiny.Steps+1 {
		t.Errorf("other weights, or %d steps: %v", steps, err)
	}
}

// The halves of a batch are different pictures, and the pictures of the next step follow.
func TestEveryPictureIsSeenOnce(t *testing.T) {
	set, one := testSet(t, 1), tiny
	model, err := tiny.Size.Model(set)
	if err != nil {
		t.Fatal(err)
	}
	var parts [halves]*half
	for i := range parts {
		if parts[i], err = newHalf(model, set, tiny.Batch/halves); err != nil {
			t.Fatal(err)
		}
		defer parts[i].worker.Close()
	}
	one.Steps = 2
	params, next, picture := model.Init(experiment.Stream(1)), 0, make([]float64, glyph.Side*glyph.Side)
	for stage := range 2 {
		if err := trainStage(t.Context(), params, one, stage, parts, func() {}); err != nil {
			t.Fatal(err)
		}
		next += tiny.Batch // the first step's
		for _, h := range parts {
			for i, x := range h.x {
				if class := NewPencil().Draw(picture, set, uint64(next)); class != h.labels[i] || !slices.Equal(x, picture) {
					t.Fatalf("stage %d: another picture than number %d", stage, next)
				}
				next++
			}
		}
	}
}

// A short run takes the loss well below ln 62 = 4.13, the loss of a guess. The run is seeded and
// ends near 3.0.
func TestTrainLearns(t *testing.T) {
	s := Settings{Size: Size{Channels: [3]int{4, 6, 8}, Width: 16}, Stages: 1, Steps: 120, Batch: 32, Rate: 5e-3, Jobs: 1}
	set := testSet(t, 1)
	params, err := Train(t.Context(), set, s, always, func() {})
	if err != nil {
		t.Fatal(err)
	}
	model, err := s.Size.Model(set)
	if err != nil {
		t.Fatal(err)
	}
	e, err := model.NewEvaluator(50)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var x [][]float64
	var labels []int
	for i := range 300 {
		picture := make([]float64, glyph.Side*glyph.Side)
		labels = append(labels, NewPencil().Draw(picture, set, 1<<40+uint64(i)))
		x = append(x, picture)
	}
	if _, loss, err := e.Evaluate(params, x, labels); err != nil || loss > 3.6 {
		t.Errorf("loss %g, %v", loss, err)
	}
}

func TestRateFalls(t *testing.T) {
	s := Settings{Stages: 10, Rate: 2}
	last := math.Inf(1)
	for stage := range s.Stages {
		rate := s.rate(stage)
		if !(rate < last && rate > 0) || stage == 0 && rate != 2 {
			t.Errorf("stage %d has rate %g after %g", stage, rate, last)
		}
		last = rate
	}
}

// A picture depends on its set and its index alone, and no two are the same.
func TestDrawDependsOnSetAndIndex(t *testing.T) {
	set := testSet(t, 1)
	draw := func(p *Pencil, s *Set, i uint64) (string, int) {
		picture := make([]float64, glyph.Side*glyph.Side)
		class := p.Draw(picture, s, i)
		out := make([]byte, len(picture))
		for at, v := range picture {
			if v < 0 || v > 1 {
				t.Fatalf("a value of %g", v)
			}
			out[at] = byte(math.Round(255 * v))
		}
		return string(out), class
	}
	p, seen := NewPencil(), map[string]bool{}
	for _, s := range []*Set{set, set.with(forComponents), testSet(t, 2)} {
		for i := range uint64(40) {
			picture, class := draw(p, s, i)
			if again, c := draw(NewPencil(), s, i); again != picture || c != class {
				t.Fatalf("picture %d is another one with a new pencil", i)
			}
			if seen[picture] {
				t.Fatalf("picture %d came twice", i)
			}
			seen[picture] = true
		}
	}
}

// Of 4000 pictures 1200 are digits in the mean, with deviation √(4000·0.3·0.7) = 29; five
// deviations are left with probability 6e-7. Each class comes up: the rarest is missed with
// probability (1-0.7/52)^4000 < 1e-23.
func TestDrawClasses(t *testing.T) {
	set, p, picture := testSet(t, 1), NewPencil(), make([]float64, glyph.Side*glyph.Side)
	var counts [len(Characters)]int
	for i := range uint64(4000) {
		counts[p.Draw(picture, set, i)]++
	}
	digits := 0
	for _, n := range counts[:Digits] {
		digits += n
	}
	if math.Abs(float64(digits)-1200) > 5*29 || slices.Min(counts[:]) == 0 {
		t.Errorf("%d digits of 4000, rarest class %d", digits, slices.Min(counts[:]))
	}
	for i := range uint64(50) {
		if class := p.DrawDigit(picture, set, i); class >= Digits {
			t.Fatalf("DrawDigit drew %q", Characters[class])
		}
	}
}

// Pictures of cloth depend on the seed and their number alone, every class comes up among 3000 (the rarest has probability 0.4/7, and is missed with
// less than 1e-76), things alone are other pictures, and a tiny run of the recipe gives a network of the ten things.
func TestClothIsDrawn(t *testing.T) {
	c, b := Cloth{Seed: 1}, garment.NewBrush()
	trained, kept := c.Classes()
	counts, picture, other := make([]int, trained), make([]float64, glyph.Side*glyph.Side), make([]float64, glyph.Side*glyph.Side)
	for i := range uint64(3000) {
		counts[c.Draw(b, picture, i)]++
		if i < 40 {
			if c.Draw(garment.NewBrush(), other, i); !slices.Equal(picture, other) {
				t.Fatalf("picture %d is another one with a new brush", i)
			}
			if (Cloth{Seed: 2}).Draw(b, other, i); slices.Equal(picture, other) {
				t.Fatalf("picture %d does not depend on the seed", i)
			}
			if class := c.DrawThing(b, other, i); class >= kept || slices.Equal(picture, other) {
				t.Fatalf("thing %d has class %d, or is the picture %d", i, class, i)
			}
		}
	}
	if slices.Contains(counts, 0) {
		t.Errorf("counts %v", counts)
	}
	params, err := Train(t.Context(), c, tiny, always, func() {})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Finish(c, tiny.Size, params, 40)
	if err != nil || n.Classes() != garment.Classes || n.Dim() != tiny.Size.Width {
		t.Errorf("%v, %v; want a network of %d classes", err, n, garment.Classes)
	}
}
