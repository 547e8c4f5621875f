package dataset

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/garment"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// The names of features that others choose by default.
const (
	Edges        = "edges"
	EdgesCentred = "edges-centred"
	Grey         = "grey"

	scatterLog = "scatter-log" // with 100 components, and the beginning of the names with others
)

// block is the side of the squares of Edges, in pixels.
const block = 4

// opening makes features.
type opening func(context.Context, features.Progress) (features.Features, error)

// catalogue makes the features of pictures of 28×28 pixels.
var catalogue = map[string]opening{
	"identity": func(context.Context, features.Progress) (features.Features, error) {
		return features.Identity(side * side)
	},
	Grey: func(context.Context, features.Progress) (features.Features, error) {
		return features.Grey(side, side, 2)
	},
	EdgesCentred: func(ctx context.Context, p features.Progress) (features.Features, error) {
		return onlyDigits.fit(ctx, edges, features.Fitting{Bias: bias}, p)
	},
	"scatter": func(ctx context.Context, p features.Progress) (features.Features, error) {
		return onlyDigits.fit(ctx, scatter, features.Fitting{Channels: features.ScatterChannels, Components: 100, Bias: bias}, p)
	},
	scatterLog + "-50": along(50), scatterLog: along(100), scatterLog + "-200": along(mostComponents),
	"glyphs": func(context.Context, features.Progress) (features.Features, error) {
		return features.Glyphs(features.GlyphsSmall)
	},
	"glyphs-big": func(context.Context, features.Progress) (features.Features, error) {
		return features.Glyphs(features.GlyphsBig)
	},
	Edges: func(context.Context, features.Progress) (features.Features, error) {
		edges, err := edges()
		if err != nil {
			return nil, err
		}
		return features.NewPipeline(edges, features.Parts{Bias: 1})
	},
}

func edges() (features.Features, error)   { return features.Edges(side, side, block) }
func scatter() (features.Features, error) { return features.Scatter(side, side) }

const (
	// bias is the input of a model's bias beside vectors of norm 1: see features.Parts.
	bias = 0.3
	// publicSeed chooses the pictures that features are fitted on.
	publicSeed = 1
)

// mixture says how many generated pictures of each kind features are fitted on.
type mixture struct {
	digits, textures int
	recipe           string
}

var (
	onlyDigits        = mixture{digits: 1000, recipe: "1000 generated digits (version 1, seed 1)"}
	digitsAndTextures = mixture{digits: 500, textures: 500, recipe: "500 generated digits and 500 textures (version 1, seed 1)"}
)

// draw draws the pictures.
func (m mixture) draw(ctx context.Context) (pictures [][]float64, err error) {
	outlines, err := glyph.Digits()
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	for _, part := range []struct {
		law law
		n   int
	}{{digits(outlines[:]), m.digits}, {textures(garment.Classes), m.textures}} {
		im, labels, err := drawAll(ctx, part.law, publicSeed, splitPublic, part.n, runtime.GOMAXPROCS(0))
		if err != nil {
			return nil, err
		}
		set, err := newSet("public", im, labels, part.n, part.law.classes)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, set.All()...)
	}
	return pictures, nil
}

// fit fits a pipeline on generated pictures.
func (m mixture) fit(ctx context.Context, open func() (features.Features, error), o features.Fitting, p features.Progress) (*features.Pipeline, error) {
	backbone, err := open()
	if err != nil {
		return nil, err
	}
	pictures, err := m.draw(ctx)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return features.Fit(ctx, backbone, features.Public{Recipe: m.recipe, Examples: pictures}, o, p)
}

// scattered is scatter-log along most components. A process fits it once.
var scattered struct {
	sync.Mutex
	*features.Pipeline
}

const mostComponents = 200

// along returns what keeps the first k components of the transform.
func along(k int) opening {
	return func(ctx context.Context, p features.Progress) (features.Features, error) {
		scattered.Lock()
		defer scattered.Unlock()
		if scattered.Pipeline == nil {
			all, err := digitsAndTextures.fit(ctx, scatter, features.Fitting{
				Channels: features.ScatterChannels, Logarithm: 1, Components: mostComponents, Whitening: .25, Bias: bias,
			}, p)
			if err != nil {
				return nil, err
			}
			scattered.Pipeline = all
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("dataset: %w", err)
		}
		return scattered.Keep(k)
	}
}

// added are the names of AddFeatures.
var added = map[string]bool{}

// AddFeatures adds features of pictures of 28×28 pixels to the names. Where they have a public network, it knows other classes than digits and
// letters. Call it while the program begins: it is not safe for concurrent use.
func AddFeatures(name string, open func(context.Context, features.Progress) (features.Features, error)) {
	catalogue[name], added[name] = open, true
}

// FeatureNames returns the names that OpenFeatures knows, sorted.
func FeatureNames() []string { return slices.Sorted(maps.Keys(catalogue)) }

// FeatureChoices returns those names, and the names that choose among them.
func FeatureChoices() []string { return append(FeatureNames(), AutoFeatures, Formulas) }

// OpenFeatures returns features of pictures of 28×28 pixels by name:
//
//	edges          oriented edges in squares of 4×4 pixels, of norm 1: 196 values
//	edges-centred  the same minus the mean of generated digits, of norm 1/0.3
//	scatter        the scattering transform with channels of equal size, minus its mean on generated
//	               digits, along their 100 principal components, of norm 1/0.3
//	scatter-log    the same with logarithms of the transform, on generated digits and textures, each
//	               component divided by the fourth root of its variance: better for pictures with texture
//	scatter-log-50, scatter-log-200: the same along fewer components, for much noise, and along more
//	glyphs         a small network that was trained on handwriting fonts, minus a public mean, along
//	               public components, of norm 1/0.3: 64 values
//	glyphs-big     a larger such network: 128 values
//	cloth          such a network that was trained on drawn clothes, shoes, bags and cloth, for pictures with texture:
//	               128 values; only in programs that import package dataset/cloth
//	grey           mean grey values of squares of 2×2 pixels: a picture of 14×14
//	identity       the 784 grey values
//
// They are made of public data alone: of formulas, of 1000 generated pictures that are in no Data, and of
// fonts. It takes about 4 s on one core for scatter and for the first of scatter-log-50, scatter-log and scatter-log-200, and next to nothing for the others. p may be nil.
// The error names features for an unknown name, or wraps ctx's error.
func OpenFeatures(ctx context.Context, name string, p features.Progress) (features.Features, error) {
	if known, ok := openedFeatures.Load(name); ok && ctx.Err() == nil {
		return known.(features.Features), nil
	}
	open, ok := catalogue[name]
	if !ok {
		return nil, fmt.Errorf("dataset: %w", fl.Invalid("features", name, "must be one of %s", strings.Join(FeatureNames(), ", ")))
	}
	f, err := open(ctx, p)
	if err == nil {
		openedFeatures.Store(name, f)
	}
	return f, err
}

// openedFeatures are the results of OpenFeatures: a process makes features once.
var openedFeatures sync.Map
