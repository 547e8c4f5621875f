package features_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// shipped are the sizes of the module with the SHA-256 of their files and the most bytes that
// they may have.
var shipped = map[string]struct {
	digest string
	bytes  int64
	dim    int
}{
	features.GlyphsSmall: {"6052dfab474121145afe447325c3a808d90e7bb7e65b8f0137d086162bf19e88", 155_000, 64},
	features.GlyphsBig:   {"5be8464bb0ec33960389a694b0060b660b9d80dbc104913adc67325dd5124e22", 700_000, 128},
}

// clothDigest is the digest of the cloth network.
const clothDigest = "cfd0cd7cc7431e0d222d0874c7460a1672d52e939919614dcf11299588b913bd"

func TestShippedWeightsArePinned(t *testing.T) {
	readme, err := os.ReadFile("weights/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range shipped {
		n, err := features.GlyphNetwork(size)
		if err != nil {
			t.Fatal(err)
		}
		digest := n.Digest()
		if got := hex.EncodeToString(digest[:]); got != want.digest || !strings.Contains(string(readme), got) {
			t.Errorf("%s: digest %s, want %s, and on the page beside the weights", size, got, want.digest)
		}
		info, err := os.Stat("weights/" + size + ".hushnet")
		if err != nil || info.Size() > want.bytes {
			t.Errorf("%s: %v, %v; want at most %d bytes", size, info.Size(), err, want.bytes)
		}
		glyphs, err := features.Glyphs(size)
		if err != nil || glyphs.Inputs() != 784 || glyphs.Dim() != want.dim {
			t.Errorf("%s: %v, %v; want %d values", size, glyphs, err, want.dim)
		}
	}
	n, err := features.ClothNetwork()
	if err != nil {
		t.Fatal(err)
	}
	digest := n.Digest()
	if got := hex.EncodeToString(digest[:]); got != clothDigest || !strings.Contains(string(readme), got) || n.Classes() != 10 {
		t.Errorf("cloth: digest %s, %d classes; want %s, on the page beside the weights, too", got, n.Classes(), clothDigest)
	}
	if cloth, err := features.Cloth(); err != nil || cloth.Inputs() != 784 || cloth.Dim() != 128 {
		t.Errorf("cloth: %v, %v; want 128 values", cloth, err)
	}
	var wrong *fl.ParamError
	if _, err := features.Glyphs("huge"); !errors.As(err, &wrong) || wrong.Param != "size" {
		t.Errorf("%v, want an error for size", err)
	}
}

// letterLayers are the last layers for letters, with the SHA-256 of their files.
var letterLayers = map[string]string{
	features.GlyphsSmall: "f65f826151099581cac73b05ca754aac264228283537692ce0a7a6ccae581a14",
	features.GlyphsBig:   "f839a414d04ce2d21976323a9bf6b2e52afa7a249d017a215568333783f1947b",
}

// The features of letters are the features of digits, whose network tells 26 classes apart.
func TestGlyphsOfLettersAreTheSameFeatures(t *testing.T) {
	readme, err := os.ReadFile("weights/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pictures, _ := goDigits(t, 3)
	for size, digest := range letterLayers {
		file, err := os.ReadFile("weights/" + size + ".letters")
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != digest || !strings.Contains(string(readme), digest) {
			t.Errorf("%s: digest %x, want %s, and on the page beside the weights", size, sum, digest)
		}
		digits, err := features.Glyphs(size)
		if err != nil {
			t.Fatal(err)
		}
		letters, err := features.GlyphsOfLetters(size)
		if err != nil || letters.Digest() != digits.Digest() {
			t.Fatalf("%s: another digest, or %v", size, err)
		}
		a, b := make([]float64, digits.Dim()), make([]float64, letters.Dim())
		for _, x := range pictures {
			digits.Apply(a, x)
			letters.Apply(b, x)
			if !slices.Equal(a, b) {
				t.Fatalf("%s: other features", size)
			}
		}
		first, known, err := features.FirstModel(t.Context(), letters, pictures, nil)
		if err != nil || !known || len(first) != 26*(letters.Dim()+1) {
			t.Errorf("%s: a first model of %d weights, %t, %v", size, len(first), known, err)
		}
	}
	var wrong *fl.ParamError
	if _, err := features.GlyphsOfLetters("huge"); !errors.As(err, &wrong) || wrong.Param != "size" {
		t.Errorf("%v, want an error for size", err)
	}
}

// goDigits draws digits of the Go fonts.
func goDigits(t testing.TB, n int) (pictures [][]float64, labels []int) {
	t.Helper()
	outlines, err := glyph.Digits()
	if err != nil {
		t.Fatal(err)
	}
	pen, rng, grey := glyph.NewPen(), rand.New(rand.NewPCG(1, 9)), make([]uint8, pixels)
	for range n {
		digit := rng.IntN(10)
		style := glyph.RandomStyle(rng, len(outlines[digit]))
		pen.Draw(outlines[digit][style.Face], &style)
		pen.Spoil(&style, rng)
		pen.Develop(grey)
		x := make([]float64, pixels)
		for i, v := range grey {
			x[i] = float64(v) / 255
		}
		pictures, labels = append(pictures, x), append(labels, digit)
	}
	return pictures, labels
}

// The networks read digits of fonts that they were not trained on. Chance is 0.1; of 1000
// pictures a network that is right on 0.97 of them is below 0.94 with probability 1e-6.
func TestShippedNetworksReadDigits(t *testing.T) {
	pictures, labels := goDigits(t, 1000)
	for size := range shipped {
		n, err := features.GlyphNetwork(size)
		if err != nil {
			t.Fatal(err)
		}
		glyphs, err := features.Glyphs(size)
		if err != nil {
			t.Fatal(err)
		}
		right, vector := 0, make([]float64, n.Dim())
		for i, x := range pictures {
			if n.Apply(vector, x); n.Class(vector) == labels[i] {
				right++
			}
			square := 0.0
			glyphs.Apply(vector, x)
			for _, v := range vector {
				square += v * v
			}
			if math.Abs(math.Sqrt(square)-1/0.3) > 1e-9 {
				t.Fatalf("%s: picture %d has norm %g", size, i, math.Sqrt(square))
			}
		}
		if right < 940 {
			t.Errorf("%s: %d of 1000 digits", size, right)
		}
	}
}

// A linear model on the features learns digits from few clients, and the network reads them
// without any.
func ExampleGlyphs() {
	glyphs, err := features.Glyphs(features.GlyphsSmall)
	if err != nil {
		fmt.Println(err)
		return
	}
	picture := make([]float64, glyphs.Inputs()) // 28×28 pixels, 0 for paper and 1 for ink
	for row := 4; row < 24; row++ {
		picture[row*28+13], picture[row*28+14] = 1, 1 // a vertical stroke
	}
	vector := make([]float64, glyphs.Dim())
	glyphs.Apply(vector, picture)
	fmt.Println(len(vector), "values")

	network, err := features.GlyphNetwork(features.GlyphsSmall)
	if err != nil {
		fmt.Println(err)
		return
	}
	network.Apply(vector, picture)
	fmt.Println("without training:", network.Class(vector))
	// Output:
	// 64 values
	// without training: 1
}
