package dataset

import (
	"context"
	"errors"
	"flag"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer/features"
)

var long = flag.Bool("long", false, "fit the scattering transform, too")

// Every name has the digest and the numbers that it had when it was added: clients that ask for a digest
// get these numbers. Another processor may round otherwise, or draw a digit with a grey value that is off by one
// step: the numbers then differ by less than 1e-4.
func TestFeaturesAreWhatTheyWere(t *testing.T) {
	data, err := Generate(t.Context(), Options{TrainSize: 1, TestSize: 1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for name, want := range map[string]struct {
		digest string
		dim    int
		norm   float64
		values [2]float64 // the first that is not 0 behind the tenth, and the one after it
	}{
		"identity":        {"5363d148", 784, 0, [2]float64{0.011764706, 0.019607843}},
		"grey":            {"b5ff86cf", 196, 0, [2]float64{0.007843137, 0.013725490}},
		"edges":           {"92f80bec", 196, 1, [2]float64{0.035032928, 0.201089843}},
		"edges-centred":   {"c65e7edf", 196, 1 / .3, [2]float64{-0.052861058, 0.490701289}},
		"glyphs":          {"780ac99d", 64, 1 / .3, [2]float64{-0.193953197, 1.033343501}},
		"glyphs-big":      {"706cff3d", 128, 1 / .3, [2]float64{0.653441529, 0.831383999}},
		"scatter":         {"771c381b", 100, 1 / .3, [2]float64{0.120350188, 0.337279971}},
		"scatter-log":     {"0c1b0bba", 100, 1 / .3, [2]float64{0.119500807, -0.336397150}},
		"scatter-log-50":  {"42a53774", 50, 1 / .3, [2]float64{0.133092805, -0.374658894}},
		"scatter-log-200": {"d835c462", 200, 1 / .3, [2]float64{0.109239003, -0.307509966}},
	} {
		seen[name] = true
		if strings.HasPrefix(name, "scatter") && !*long {
			continue // each takes seconds to fit
		}
		f, err := OpenFeatures(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		vector := make([]float64, f.Dim())
		f.Apply(vector, data.Train.Image(0))
		square := 0.
		for _, v := range vector {
			square += v * v
		}
		at := slices.IndexFunc(vector[10:], func(v float64) bool { return v != 0 }) + 10
		id := features.ID(name, f)
		if !strings.HasPrefix(id, name+":"+want.digest) || f.Dim() != want.dim || want.norm > 0 && math.Abs(math.Sqrt(square)-want.norm) > 1e-12 ||
			math.Abs(vector[at]-want.values[0]) > 1e-4 || math.Abs(vector[at+1]-want.values[1]) > 1e-4 {
			t.Errorf("%s: %s, %d values of norm %g, %v; want %+v", name, id, f.Dim(), math.Sqrt(square), vector[at:at+2], want)
		}
		if r := (fl.Round{Features: id}); len(r.Features) > fl.MaxFeaturesBytes {
			t.Errorf("%s is too long for a round", id)
		}
	}
	for _, name := range FeatureNames() {
		if !seen[name] {
			t.Errorf("%s is not in this test", name)
		}
	}
}

// No seed of Generate gives the digits that features are fitted on.
func TestPublicDigitsAreInNoData(t *testing.T) {
	outlines := mustDigits(t)
	public, _, err := drawAll(t.Context(), digits(outlines[:]), publicSeed, splitPublic, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		for _, split := range []uint64{splitTrain, splitTest} {
			im, _, err := drawAll(t.Context(), digits(outlines[:]), seed, split, 50, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 50 {
				if string(im.Pixels[i*side*side:(i+1)*side*side]) == string(public.Pixels[i*side*side:(i+1)*side*side]) {
					t.Fatalf("seed %d, split %d: picture %d is public", seed, split, i)
				}
			}
		}
	}
}

func TestOpenFeaturesRefuses(t *testing.T) {
	var p *fl.ParamError
	if _, err := OpenFeatures(t.Context(), "magic", nil); !errors.As(err, &p) || p.Param != "features" {
		t.Errorf("error %v, want a ParamError for features", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"edges-centred", "scatter", "scatter-log-200"} {
		if _, err := OpenFeatures(ctx, name, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", name, err)
		}
	}
}
