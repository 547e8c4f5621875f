package dataset

import (
	"cmp"
	"github.com/hushgrad/hushgrad/fl"
)

// Digit pictures have ten classes, and files as many as Options.Classes says, in [leastClasses, mostClasses].
const digitClasses, leastClasses, mostClasses = 10, 2, 1000

// A Set is a list of labelled images of one size. Its methods only read
// it, so a Set that nobody writes to is safe for concurrent use.
type Set struct {
	// Images holds image after image, each row after row: Len()·Dim() values. Values of
	// pictures are in [0,1], 0 for paper and 1 for ink.
	Images []float64
	// Labels holds one class in [0, Classes) per image.
	Labels []int
	// Rows and Cols are the height and width of each image in pixels, or 1 and the number of
	// values of other examples.
	Rows, Cols int
	// Classes is the number of classes, whether there are examples of all or not.
	Classes int
}

// Data is what Load and Generate return: disjoint train and test sets, and
// where they came from.
type Data struct {
	Train, Test *Set
	// Source is SourceMNIST or SourceGenerated.
	Source string
	// Note is one line for the user: where the images came from and, for
	// generated ones, why.
	Note string
}

// The values of Data.Source.
const (
	// SourceMNIST: images read from files in MNIST's format.
	SourceMNIST = "mnist"
	// SourceGenerated: images that were drawn, of digits or of textured things.
	SourceGenerated = "generated"
)

// Len returns the number of images.
func (s *Set) Len() int { return len(s.Labels) }

// Dim returns the number of values of one image, Rows·Cols.
func (s *Set) Dim() int { return s.Rows * s.Cols }

// Image returns image i, 0 <= i < Len(), as Dim() values. The
// slice aliases s.Images and cannot be grown over the next image. O(1).
func (s *Set) Image(i int) []float64 {
	d := s.Dim()
	return s.Images[i*d : (i+1)*d : (i+1)*d]
}

// All returns all images, each as Image returns it. O(Len()).
func (s *Set) All() [][]float64 {
	out := make([][]float64, s.Len())
	for i := range out {
		out[i] = s.Image(i)
	}
	return out
}

// transpose swaps rows and columns of every image.
func (s *Set) transpose() {
	row := make([]float64, s.Dim())
	for i := range s.Len() {
		image := s.Image(i)
		copy(row, image)
		for at, v := range row {
			image[at%s.Cols*s.Rows+at/s.Cols] = v
		}
	}
	s.Rows, s.Cols = s.Cols, s.Rows
}

// newSet joins the first n pictures of im with their labels, or all of them
// when n is 0. The labels are kept. what names the set in errors. O(n·Rows·Cols).
func newSet(what string, im *Images, labels []int, n, classes int) (*Set, error) {
	if im.Count != len(labels) {
		return nil, fl.Invalid(what+" labels", len(labels), "must be one for each of the %d images", im.Count)
	}
	if n > im.Count {
		return nil, fl.Invalid(what+" size", n, "must be at most %d, the number of images there are", im.Count)
	}
	n = cmp.Or(n, im.Count)
	s := &Set{
		Images:  make([]float64, n*im.Rows*im.Cols),
		Labels:  labels[:n:n],
		Rows:    im.Rows,
		Cols:    im.Cols,
		Classes: classes,
	}
	for i := range s.Images {
		s.Images[i] = float64(im.Pixels[i]) / 255
	}
	return s, nil
}
