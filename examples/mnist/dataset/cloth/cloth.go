// Package cloth adds the features cloth to those that package dataset opens by name. Import it for that effect, in programs that may have
// 345 kB more. Start with dataset.OpenFeatures.
package cloth

import (
	"context"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// Name is the features' name.
const Name = "cloth"

func init() {
	dataset.AddFeatures(Name, func(context.Context, features.Progress) (features.Features, error) { return features.Cloth() })
}
