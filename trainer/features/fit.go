package features

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/hushgrad/hushgrad/fl"
)

// Public are examples that anybody may have: nobody who takes part is in them.
type Public struct {
	// Recipe says exactly how to get the examples again, in at most 256 bytes: for example
	// "2000 generated digits, seed 1". The digest covers it in place of the examples.
	Recipe string
	// Examples have the backbone's Inputs values each, and are at least 2.
	Examples [][]float64
}

// Fitting says what Fit computes from public examples.
type Fitting struct {
	// Channels is the number of equal parts of the backbone's vector, one after the other. Each is
	// divided by the root mean square of its values over the public examples. It divides the
	// backbone's Dim. 0 leaves values as they are.
	Channels int
	// Logarithm replaces each value v, before that, by log(1+|v|/c) with the sign of v, where c is Logarithm
	// times the mean of |v| in its channel over the public examples. It is in [0.001, 1000] and needs Channels.
	// 0 leaves values as they are.
	Logarithm float64
	// Components is the number of principal components that are kept, below the number of
	// examples and at most the backbone's Dim. 0 keeps the vectors as they are.
	Components int
	// Whitening divides the value along each component by the power Whitening of the variance that
	// the public examples have along it, over that along the first: 0 leaves the variances as they are and 1/2 makes them equal. It is
	// in [0, 1/2] and needs Components.
	Whitening float64
	// Bias is as in Parts.
	Bias float64
}

const (
	maxRecipe = 256
	maxPublic = 1 << 16
)

// Fit returns the pipeline that levels channels, takes away the mean of public examples and keeps the directions in
// which they vary most. A client may compute it anew: the digest covers the backbone, the recipe of
// the examples, their number and the options, and no computed number. So it is the same on every
// machine, and the results differ by rounding only. A component's largest value is positive.
//
// Cost: the backbone for n examples of d values, and with components O(n·d·min(n, d)) for their
// products and O(min(n, d)³) for the eigenvectors (LAPACK's dsyev in gonum): 2 s on one core for
// n = 1000. The error names what is out of range, or wraps ctx's error.
func Fit(ctx context.Context, backbone Features, public Public, o Fitting, p Progress) (*Pipeline, error) {
	n, d := len(public.Examples), backbone.Dim()
	switch {
	case public.Recipe == "" || len(public.Recipe) > maxRecipe:
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("recipe", public.Recipe, "must have 1 to %d bytes", maxRecipe))
	case n < 2 || n > maxPublic:
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("examples", n, "must be in [2, %d]", maxPublic))
	case o.Channels < 0 || o.Channels > 0 && d%o.Channels != 0:
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("channels", o.Channels, "must divide the %d values, or be 0", d))
	case o.Logarithm != 0 && !(o.Channels > 0 && o.Logarithm >= 1e-3 && o.Logarithm <= 1e3):
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("logarithm", o.Logarithm, "must be in [0.001, 1000] with channels, or 0"))
	case !(o.Whitening >= 0 && o.Whitening <= .5) || o.Whitening > 0 && o.Components == 0:
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("whitening", o.Whitening, "must be in [0, 0.5] with components, or 0"))
	case o.Components < 0 || o.Components > min(n-1, d, maxComponents):
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("components", o.Components, "must be in [0, %d]", min(n-1, d, maxComponents)))
	}
	seen, err := All(ctx, backbone, public.Examples, p)
	if err != nil {
		return nil, err
	}
	vectors := mat.NewDense(n, d, seen)
	parts, words := Parts{Bias: o.Bias}, []string(nil)
	if o.Logarithm > 0 {
		parts.Logarithm = typical(vectors, o.Channels, o.Logarithm)
		words = append(words, fmt.Sprintf("logarithms from %g of the mean", o.Logarithm))
	}
	if o.Channels > 0 {
		parts.Scale = level(vectors, o.Channels)
		words = append(words, fmt.Sprintf("%d channels of equal size", o.Channels))
	}
	parts.Mean = centre(vectors)
	words = append(words, "minus the mean of "+public.Recipe)
	if o.Components > 0 {
		if parts.Components, err = principal(ctx, vectors, o.Components, o.Whitening); err != nil {
			return nil, err
		}
		words = append(words, fmt.Sprintf("their %d principal components", o.Components))
		if o.Whitening > 0 {
			words = append(words, fmt.Sprintf("over the power %g of variances", o.Whitening))
		}
	}
	if err := parts.validate(d); err != nil {
		return nil, fmt.Errorf("features: fit: %w", err)
	}
	r, digest := newRecipe("fitted pipeline"), backbone.Digest()
	r.bytes(digest[:])
	r.text(public.Recipe)
	r.integers(n, o.Channels, o.Components)
	r.reals(o.Bias)
	if o.Logarithm > 0 || o.Whitening > 0 {
		r.text("logarithm, whitening")
		r.reals(o.Logarithm, o.Whitening)
	}
	return assemble(backbone, parts, r.digest(), words), nil
}

// typical returns, for each value, the mean of absolute values in its channel times share, and takes the
// logarithms of the rows with it. A channel of zeros has 1.
func typical(rows *mat.Dense, channels int, share float64) []float64 {
	n, d := rows.Dims()
	out, size := make([]float64, d), d/channels
	for channel := range channels {
		from, to := channel*size, (channel+1)*size
		sum := 0.
		for i := range n {
			sum += floats.Norm(rows.RawRowView(i)[from:to], 1)
		}
		c := 1.
		if sum > 0 {
			c = share * sum / float64(n*size)
		}
		for j := from; j < to; j++ {
			out[j] = c
		}
	}
	for i := range n {
		logarithms(rows.RawRowView(i), out)
	}
	return out
}

// level divides each channel of the rows by the root mean square of its values, unless that is 0, and
// returns what each value was multiplied by.
func level(rows *mat.Dense, channels int) []float64 {
	n, d := rows.Dims()
	scale, size := make([]float64, d), d/channels
	for channel := range channels {
		from, to := channel*size, (channel+1)*size
		square := 0.
		for i := range n {
			part := rows.RawRowView(i)[from:to]
			square += floats.Dot(part, part)
		}
		by := 1.
		if square > 0 {
			by = math.Sqrt(float64(n*size) / square)
		}
		for j := from; j < to; j++ {
			scale[j] = by
		}
	}
	for i := range n {
		floats.Mul(rows.RawRowView(i), scale)
	}
	return scale
}

// centre takes the mean of the rows away from each, and returns it.
func centre(rows *mat.Dense) []float64 {
	n, d := rows.Dims()
	mean := make([]float64, d)
	for i := range n {
		floats.Add(mean, rows.RawRowView(i))
	}
	floats.Scale(1/float64(n), mean)
	for i := range n {
		floats.Sub(rows.RawRowView(i), mean)
	}
	return mean
}

// principal returns the k orthogonal directions along which rows of mean 0 have the largest
// variances, the largest first, each divided by the power whitening of its variance over the
// largest. The products of the rows with each other have the same eigenvalues as the products of
// the columns. Products of rows are fewer where there are fewer rows than columns.
func principal(ctx context.Context, rows *mat.Dense, k int, whitening float64) ([][]float64, error) {
	n, d := rows.Dims()
	of := mat.Matrix(rows)
	if d <= n {
		of = rows.T()
	}
	products := mat.NewSymDense(min(n, d), nil)
	products.SymOuterK(1, of)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("features: fit: %w", err)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(products, true) {
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("examples", "no eigenvectors", "must be finite"))
	}
	values := eigen.Values(nil) // ascending
	var columns mat.Dense
	eigen.VectorsTo(&columns)
	size := len(values)
	if least := values[size-k]; !(least > 1e-12*values[size-1]) {
		return nil, fmt.Errorf("features: fit: %w", fl.Invalid("components", k, "must be at most the number of directions in which the examples vary"))
	}
	out := make([][]float64, k)
	for i := range out {
		vector := columns.ColView(size - 1 - i)
		direction := mat.NewVecDense(d, nil)
		if d <= n {
			direction.CopyVec(vector)
		} else {
			direction.MulVec(rows.T(), vector)
			direction.ScaleVec(1/math.Sqrt(values[size-1-i]), direction)
		}
		out[i] = direction.RawVector().Data
		peak := slices.MaxFunc(out[i], func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
		if peak < 0 {
			floats.Scale(-1, out[i])
		}
		if whitening > 0 {
			floats.Scale(math.Pow(values[size-1]/values[size-1-i], whitening), out[i])
		}
	}
	return out, nil
}
