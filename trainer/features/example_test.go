package features_test

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/hushgrad/hushgrad/trainer/features"
)

// squares is a map of one's own: the values and their squares.
type squares struct{}

func (squares) Inputs() int      { return 2 }
func (squares) Dim() int         { return 4 }
func (squares) Digest() [32]byte { return sha256.Sum256([]byte("example.org/squares/1")) }
func (squares) String() string   { return "values and squares" }

func (squares) Apply(dst, x []float64) {
	dst[0], dst[1], dst[2], dst[3] = x[0], x[1], x[0]*x[0], x[1]*x[1]
}

// A map of one's own becomes a pipeline: minus the mean of public examples, along the two directions in
// which they vary most, with norm 1.
func ExampleFit() {
	public := features.Public{Recipe: "six points on a curve", Examples: [][]float64{{-3, 9}, {-2, 4}, {-1, 1}, {1, 1}, {2, 4}, {3, 9}}}
	f, err := features.Fit(context.Background(), squares{}, public, features.Fitting{Components: 2, Bias: 1}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f)
	vector := make([]float64, f.Dim())
	f.Apply(vector, []float64{2.5, 6})
	fmt.Printf("%.3f\n", vector)
	fmt.Println(features.ID("curve", f)[:10])
	// Output:
	// values and squares, minus the mean of six points on a curve, their 2 principal components, norm 1
	// [0.819 0.573]
	// curve:eb50
}
