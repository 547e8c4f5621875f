package dataset

import (
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// Pool returns a Set whose images are those of s shrunk k times in each
// direction: each pixel is the mean of a k×k block, so values stay in [0,1] and
// a model on the images has k² times fewer inputs. Pool(1) returns s itself;
// any other k returns a Set that shares nothing with s. O(Len()·Dim()).
//
// It returns an error unless k >= 1 and k divides Rows and Cols, and when the
// length of s.Images is not Len()·Dim().
func (s *Set) Pool(k int) (*Set, error) {
	if err := s.checkBlocks(k); err != nil {
		return nil, fmt.Errorf("dataset: pool: %w", err)
	}
	if k == 1 {
		return s, nil
	}
	out := &Set{
		Images:   make([]float64, len(s.Images)/(k*k)),
		Labels:   slices.Clone(s.Labels),
		Channels: s.Channels,
		Rows:     s.Rows / k,
		Cols:     s.Cols / k,
		Classes:  s.Classes,
	}
	area := float64(k * k)
	for i := range s.Len() {
		src, dst := s.Image(i), out.Image(i)
		for r := range s.channels() * s.Rows { // k divides Rows: no block has two channels
			for c := range s.Cols {
				dst[(r/k)*out.Cols+c/k] += src[r*s.Cols+c]
			}
		}
		for j := range dst {
			dst[j] /= area
		}
	}
	return out, nil
}

// checkBlocks says whether the images can be cut into k×k blocks.
func (s *Set) checkBlocks(k int) error {
	if k < 1 || s.Rows%k != 0 || s.Cols%k != 0 {
		return fl.Invalid("k", k, "must be at least 1 and divide the %d rows and %d columns", s.Rows, s.Cols)
	}
	if want := s.Len() * s.Dim(); len(s.Images) != want {
		return fl.Invalid("images", len(s.Images), "must be %d values for %d images of %d×%d", want, s.Len(), s.Rows, s.Cols)
	}
	return nil
}
