package dataset

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/garment"
)

// Textures depend on the seed alone, and a smaller set is the start of a larger one.
func TestTexturesDependOnTheirSeedOnly(t *testing.T) {
	draw := func(seed uint64, n, workers int) (*Images, []int) {
		im, labels, err := drawAll(t.Context(), textures(garment.Classes), seed, splitTrain, n, workers)
		if err != nil {
			t.Fatal(err)
		}
		return im, labels
	}
	im, labels := draw(3, 200, 1)
	again, againLabels := draw(3, 130, 3)
	if !bytes.Equal(again.Pixels, im.Pixels[:len(again.Pixels)]) || !slices.Equal(againLabels, labels[:130]) {
		t.Error("other pictures with other workers")
	}
	seen := map[string]bool{}
	for p := range slices.Chunk(im.Pixels, side*side) {
		if seen[string(p)] {
			t.Fatal("a picture came twice")
		}
		seen[string(p)] = true
	}
	if loaded, err := Load(t.Context(), Options{Source: Textures, TrainSize: 1, TestSize: 1, Seed: 3}); err != nil || !slices.EqualFunc(loaded.Train.Image(0), im.Pixels[:side*side], func(v float64, grey uint8) bool { return v == float64(grey)/255 }) {
		t.Errorf("Load draws other pictures, error %v", err)
	}
	if other, _ := draw(4, 200, 1); bytes.Equal(other.Pixels, im.Pixels) {
		t.Error("another seed has the same pictures")
	}
}

// Load draws textures by name, says that nobody photographed them, and each class is as likely as any other: a binomial
// count of mean 400 and deviation 19.0 is off by 5.1 deviations with probability 3.4e-7.
func TestLoadTextures(t *testing.T) {
	d, err := Load(t.Context(), Options{Source: Textures, TrainSize: 4000, TestSize: 1000, Seed: 11})
	if err != nil {
		t.Fatal(err)
	}
	if d.Source != SourceGenerated || !strings.Contains(d.Note, "drawn by a law with seed 11") || d.Train.Len() != 4000 || d.Test.Len() != 1000 || d.Train.Dim() != 784 {
		t.Errorf("%d and %d pictures, source %s, note %s", d.Train.Len(), d.Test.Len(), d.Source, d.Note)
	}
	var count [digitClasses]float64
	for _, l := range d.Train.Labels {
		count[l]++
	}
	for l, n := range count {
		if math.Abs(n-400) > 5.1*math.Sqrt(4000*.1*.9) {
			t.Errorf("class %d: got %g of 4000 pictures", l, n)
		}
	}
	// Things fill more of a picture than the strokes of digits, which have an ink of about 100.
	ink := 0.
	for _, v := range d.Train.Images {
		ink += v / 4000
	}
	if ink < 130 {
		t.Errorf("ink: got %.1f a picture, want more than a digit has", ink)
	}
	// Measured: 621. The bounds are more than 9 deviations, √(.25·1000) = 16, away.
	if right := nearestMean(d); right < 450 || right > 850 {
		t.Errorf("nearest mean: got %d of 1000 right", right)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, Options{Source: Textures}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := Load(t.Context(), Options{Source: Textures, TrainSize: 60001}); err == nil {
		t.Error("60001 pictures")
	}
}
