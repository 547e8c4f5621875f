package cloth

import (
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

// The features have the digest and the numbers that they had when they were added, see dataset's test of the others.
func TestClothIsWhatItWas(t *testing.T) {
	if !slices.Contains(dataset.FeatureNames(), Name) {
		t.Fatalf("%s is not among %v", Name, dataset.FeatureNames())
	}
	f, err := dataset.OpenFeatures(t.Context(), Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 1, TestSize: 1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	digest, x := f.Digest(), make([]float64, f.Dim())
	f.Apply(x, data.Train.Image(0))
	if got := hex.EncodeToString(digest[:4]); got != "45e74919" || len(x) != 128 || math.Abs(x[10]-0.112435994) > 1e-4 || math.Abs(x[11]+0.092398938) > 1e-4 {
		t.Errorf("%s, %d values, %g", got, len(x), x[10:12])
	}
}

// Its network knows ten classes, and they are no digits: no run starts from it.
func TestNoRunStartsFromCloth(t *testing.T) {
	f, err := dataset.OpenFeatures(t.Context(), Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{dataset.Digits, dataset.Textures} {
		p, err := dataset.NewPublic(t.Context(), kind, 10, f, dataset.ToPlan, nil)
		if err != nil || p.First != nil || p.ZeroShot != 0 {
			t.Errorf("%s: %v, %d first weights, zero-shot %g", kind, err, len(p.First), p.ZeroShot)
		}
	}
	held := &dataset.Set{Images: make([]float64, 784), Labels: []int{0}, Rows: 28, Cols: 28, Classes: 10}
	if _, known, err := dataset.ZeroShot(t.Context(), f, held, nil); err != nil || known {
		t.Errorf("known %t, %v", known, err)
	}
}
