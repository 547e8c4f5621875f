package dataset

import (
	"context"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// In returns the same examples as the vectors of f, both sets. The vectors have the size of a
// features.Picture, and else are one row. p may be nil.
//
// It computes on all cores, see features.All. The error names images unless the images of both sets
// have f's Inputs values, or wraps ctx's error.
func (d *Data) In(ctx context.Context, f features.Features, p features.Progress) (*Data, error) {
	out := *d
	for _, set := range []**Set{&out.Train, &out.Test} {
		s := **set
		if s.Dim() != f.Inputs() || len(s.Images) != s.Len()*s.Dim() {
			return nil, fmt.Errorf("dataset: %w", fl.Invalid("images", fmt.Sprintf("%d of %d×%d", s.Len(), s.Rows, s.Cols), "must have %d values each, for %v", f.Inputs(), f))
		}
		vectors, err := features.All(ctx, f, s.All(), p)
		if err != nil {
			return nil, fmt.Errorf("dataset: %w", err)
		}
		s.Images, s.Rows, s.Cols = vectors, 1, f.Dim()
		if picture, ok := f.(features.Picture); ok {
			s.Rows, s.Cols = picture.Size()
		}
		*set = &s
	}
	return &out, nil
}
