package dataset

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/glyph"
)

func mustDigits(t testing.TB) *[digitClasses][]glyph.Outline {
	t.Helper()
	all, err := glyph.Digits()
	if err != nil {
		t.Fatal(err)
	}
	return &all
}

// TestDrawAllDependsOnItsKeyOnly: not on the workers, nor on how many more
// pictures are drawn; and the seed, the split and the index all matter.
func TestDrawAllDependsOnItsKeyOnly(t *testing.T) {
	all := mustDigits(t)
	draw := func(seed, split uint64, n, workers int) (*Images, []int) {
		im, labels, err := drawAll(t.Context(), digits(all[:]), seed, split, n, workers)
		if err != nil {
			t.Fatal(err)
		}
		return im, labels
	}
	im, labels := draw(1, splitTrain, 300, 1)
	for _, c := range []struct{ n, workers int }{{300, 7}, {130, 3}, {64, 2}, {1, 4}} {
		got, gotLabels := draw(1, splitTrain, c.n, c.workers)
		if got.Count != c.n || !bytes.Equal(got.Pixels, im.Pixels[:c.n*side*side]) || !slices.Equal(gotLabels, labels[:c.n]) {
			t.Errorf("%d pictures, %d workers: not the start of what one worker draws", c.n, c.workers)
		}
	}
	seen := map[string]bool{}
	for _, c := range []struct{ seed, split uint64 }{{1, splitTrain}, {1, splitTest}, {2, splitTrain}, {2, splitTest}} {
		im, _ := draw(c.seed, c.split, 300, 2)
		for p := range slices.Chunk(im.Pixels, side*side) {
			if seen[string(p)] {
				t.Fatalf("seed %d, split %d: a picture came twice", c.seed, c.split)
			}
			seen[string(p)] = true
		}
	}
}

// TestGeneratedStatistics looks at 4000 pictures. Each class has a binomial
// count of mean 400 and deviation √(4000·0.1·0.9) = 19.0; one is off by 5.1
// deviations with probability 3.4e-7, any of ten with 3.4e-6. The ink of one
// picture has a deviation of about 36, so the mean of 4000 has 0.6 and cannot
// leave its 20 on either side by chance.
func TestGeneratedStatistics(t *testing.T) {
	d, err := Generate(t.Context(), Options{TrainSize: 4000, TestSize: 1, Seed: 11})
	if err != nil {
		t.Fatal(err)
	}
	var count [digitClasses]float64
	ink := 0.0
	for i, l := range d.Train.Labels {
		count[l]++
		for _, v := range d.Train.Image(i) {
			ink += v
		}
	}
	for l, n := range count {
		if math.Abs(n-400) > 5.1*math.Sqrt(4000*0.1*0.9) {
			t.Errorf("class %d: got %g of 4000 pictures, want about 400", l, n)
		}
	}
	if mean := ink / 4000; mean < 80 || mean > 120 {
		t.Errorf("ink: got %.1f a picture, want 80 to 120", mean)
	}
}

// TestGeneratedDigitsCanBeLearned: a picture of the test set is nearest to the
// mean training picture of its own class seven times in ten (measured), where
// chance gives one in ten. The bound 0.6 is 7 deviations, √(0.7·0.3/1000) =
// 0.0145, below the measured share.
func TestGeneratedDigitsCanBeLearned(t *testing.T) {
	d, err := Generate(t.Context(), Options{TrainSize: 2000, TestSize: 1000, Seed: 12})
	if err != nil {
		t.Fatal(err)
	}
	right := nearestMean(d)
	if right < 600 {
		t.Errorf("nearest mean: got %d of 1000 right, want 600 or more", right)
	}
}

// nearestMean returns how many test pictures are nearest to the mean training picture of their class.
func nearestMean(d *Data) int {
	var mean [digitClasses][side * side]float64
	var count [digitClasses]float64
	for i, l := range d.Train.Labels {
		count[l]++
		for j, v := range d.Train.Image(i) {
			mean[l][j] += v
		}
	}
	right := 0
	for i, l := range d.Test.Labels {
		best, bestDistance := -1, math.Inf(1)
		for c := range mean {
			distance := 0.0
			for j, v := range d.Test.Image(i) {
				e := v - mean[c][j]/count[c]
				distance += e * e
			}
			if distance < bestDistance {
				best, bestDistance = c, distance
			}
		}
		if best == l {
			right++
		}
	}
	return right
}

func TestGenerate(t *testing.T) {
	d, err := Generate(t.Context(), Options{TrainSize: 30, TestSize: 20, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Set{"train": d.Train, "test": d.Test} {
		if s.Rows != 28 || s.Cols != 28 || s.Classes != 10 || len(s.Images) != s.Len()*784 {
			t.Errorf("%s: got %d images of %d×%d in %d classes and %d values", name, s.Len(), s.Rows, s.Cols, s.Classes, len(s.Images))
		}
	}
	if d.Train.Len() != 30 || d.Test.Len() != 20 {
		t.Errorf("got %d and %d images, want 30 and 20", d.Train.Len(), d.Test.Len())
	}
	if want := "digits drawn from the Go fonts with seed 9: accuracy on them is not comparable with MNIST"; d.Source != SourceGenerated || d.Note != want {
		t.Errorf("got source %q, note %q; want %q, %q", d.Source, d.Note, SourceGenerated, want)
	}
	if slices.Equal(d.Train.Image(0), d.Test.Image(0)) {
		t.Error("the first train and test images are equal")
	}
	if d, err := Generate(t.Context(), Options{Source: "x"}); d != nil || err == nil || !strings.HasPrefix(err.Error(), `dataset: source: got "x", rule: must be empty`) {
		t.Errorf("with a directory: got %v, %v", d, err)
	}
}

// TestDefaultSizes: options without sizes ask for as many pictures as MNIST has. They are blank
// here, because 70000 digits take seconds to draw.
func TestDefaultSizes(t *testing.T) {
	if !*long {
		t.Skip("takes 400 MB")
	}
	blank := law{"blanks/1", 1, func() painter { return func([]uint8, *rand.Rand) int { return 0 } }}
	d, err := drawBoth(t.Context(), Options{}, blank, "")
	if err != nil {
		t.Fatal(err)
	}
	if d.Train.Len() != 60000 || d.Test.Len() != 10000 {
		t.Errorf("got %d and %d images, want 60000 and 10000", d.Train.Len(), d.Test.Len())
	}
}

// BenchmarkGenerate draws on all cores; BenchmarkDraw on one.
func BenchmarkGenerate(b *testing.B) {
	const n = 2000
	for b.Loop() {
		if _, err := Generate(b.Context(), Options{TrainSize: n, TestSize: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(n+1), "µs/image")
}

func BenchmarkDraw(b *testing.B) {
	all := mustDigits(b)
	const n = 1000
	for b.Loop() {
		if _, _, err := drawAll(b.Context(), digits(all[:]), 1, splitTrain, n, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "µs/image")
}
