package features

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Classifier is a map that knows classes from its public training. *Network is one.
type Classifier interface {
	Features
	// Classes is the number of classes, and Class the one in [0, Classes()) of a vector that Apply
	// wrote.
	Classes() int
	Class(vector []float64) int
}

// ZeroShot returns the share of examples whose class f knows without anybody's data. It is what a
// private run starts from: print it beside what the run reaches. known is false where f has no
// classes: where neither f nor the backbone of a *Pipeline is a Classifier.
//
// It computes on all cores, see All. The error names labels unless there is one for each of at
// least one example, or is All's error.
func ZeroShot(ctx context.Context, f Features, examples [][]float64, labels []int, p Progress) (accuracy float64, known bool, err error) {
	if pipeline, ok := f.(*Pipeline); ok {
		f = pipeline.backbone
	}
	c, known := f.(Classifier)
	if !known {
		return 0, false, nil
	}
	if len(labels) != len(examples) || len(labels) == 0 {
		return 0, true, fmt.Errorf("features: %w", fl.Invalid("labels", len(labels), "must be one for each of the %d examples, at least one", len(examples)))
	}
	vectors, err := All(ctx, c, examples, p)
	if err != nil {
		return 0, true, err
	}
	right, dim := 0, c.Dim()
	for i, label := range labels {
		if c.Class(vectors[i*dim:(i+1)*dim]) == label {
			right++
		}
	}
	return float64(right) / float64(len(labels)), true, nil
}
