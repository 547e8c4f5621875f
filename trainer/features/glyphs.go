package features

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// The sizes of the glyph network that the module ships. weights/README.md says how they were
// made, and from what.
const (
	GlyphsSmall = "small" // 64 values a picture
	GlyphsBig   = "big"   // 128 values
)

var glyphSizes = []string{GlyphsBig, GlyphsSmall}

//go:embed weights/big.hushnet weights/small.hushnet weights/*.letters
var weights embed.FS

// GlyphNetwork returns the network of a size, as it was trained on handwriting fonts: its
// classes are the ten digits. The error for an unknown size lists the known ones.
func GlyphNetwork(size string) (*Network, error) {
	if !slices.Contains(glyphSizes, size) {
		return nil, fmt.Errorf("features: glyphs: %w", fl.Invalid("size", size, "must be one of %s", strings.Join(glyphSizes, ", ")))
	}
	file, err := weights.ReadFile("weights/" + size + ".hushnet")
	if err != nil {
		return nil, fmt.Errorf("features: glyphs: %w", err)
	}
	return ReadNetwork(bytes.NewReader(file))
}

// letterClasses is the number of letters, of which a capital and a small one are one class.
const letterClasses = 26

// GlyphsOfLetters returns the same features as Glyphs, with the same digest, of a network whose classes are the 26 letters of English, each a capital
// or a small one. Its last layer is a file of its own, and FirstModel and ZeroShot are about letters. Errors are GlyphNetwork's.
func GlyphsOfLetters(size string) (*Pipeline, error) {
	n, err := GlyphNetwork(size)
	if err != nil {
		return nil, err
	}
	file, err := weights.ReadFile("weights/" + size + ".letters")
	if err != nil {
		return nil, fmt.Errorf("features: glyphs: %w", err)
	}
	last, err := halves(file, (n.Dim()+1)*letterClasses)
	if err != nil {
		return nil, fmt.Errorf("features: glyphs: %w", err)
	}
	n.parts.Head, n.parts.HeadBias = last[:n.Dim()*letterClasses], last[n.Dim()*letterClasses:]
	return networkPipeline(n)
}

// networkBias is the Bias of the features' Parts.
const networkBias = 0.3

// Glyphs returns the features of a glyph network for pictures of 28×28 values in [0, 1], 0 for
// paper and 1 for ink: its vector minus a public mean, along public principal components, with
// norm 1/0.3. Handwriting is what they are for. Errors are GlyphNetwork's.
func Glyphs(size string) (*Pipeline, error) {
	n, err := GlyphNetwork(size)
	if err != nil {
		return nil, err
	}
	return networkPipeline(n)
}

func networkPipeline(n *Network) (*Pipeline, error) {
	mean, components := n.Parts()
	return NewPipeline(n, Parts{Mean: mean, Components: components, Bias: networkBias})
}
