package dataset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// The names of features that others choose by default.
const (
	Edges = "edges"
	Grey  = "grey"
)

// block is the side of the squares of Edges, in pixels.
const block = 4

// catalogue makes the features of pictures of 28×28 pixels.
var catalogue = map[string]func(context.Context, features.Progress) (features.Features, error){
	"identity": func(context.Context, features.Progress) (features.Features, error) {
		return features.Identity(side * side)
	},
	Grey: func(context.Context, features.Progress) (features.Features, error) {
		return features.Grey(side, side, 2)
	},
	Edges: func(context.Context, features.Progress) (features.Features, error) {
		edges, err := features.Edges(side, side, block)
		if err != nil {
			return nil, err
		}
		return features.NewPipeline(edges, features.Parts{Bias: 1})
	},
}

// FeatureNames returns the names that OpenFeatures knows, sorted.
func FeatureNames() []string { return slices.Sorted(maps.Keys(catalogue)) }

// OpenFeatures returns features of pictures of 28×28 pixels by name:
//
//	edges     oriented edges in squares of 4×4 pixels, of norm 1: 196 values
//	grey      mean grey values of squares of 2×2 pixels: a picture of 14×14
//	identity  the 784 grey values
//
// They are made of public data alone. p may be nil. The error names features for an unknown name,
// or wraps that of ctx.
func OpenFeatures(ctx context.Context, name string, p features.Progress) (features.Features, error) {
	open, ok := catalogue[name]
	if !ok {
		return nil, fmt.Errorf("dataset: %w", fl.Invalid("features", name, "must be one of %s", strings.Join(FeatureNames(), ", ")))
	}
	return open(ctx, p)
}
