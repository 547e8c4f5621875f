package features

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Parts are what a Pipeline does behind its backbone, in this order. What is empty is left out.
type Parts struct {
	// Logarithm has the backbone's Dim values c > 0: each value v of the backbone's vector becomes
	// log(1+|v|/c), with the sign of v. Values far above c then count little more than those near it.
	Logarithm []float64
	// Scale multiplies the values after that. It has the backbone's Dim values.
	Scale []float64
	// Mean is taken away after that. It has the backbone's Dim values.
	Mean []float64
	// Components are the directions that are kept: each has the backbone's Dim values, and gives
	// one value of the result, its product with the vector.
	Components [][]float64
	// Bias scales the result to the Euclidean norm 1/Bias, in [0.01, 100]; 0 leaves the norm as it
	// is. A vector of zeros stays one. The norm of a client's gradient is then known before
	// anybody has looked.
	//
	// The name says what Bias means for a linear model. The model adds a bias: a weight whose
	// input is always 1. That input beside a vector of norm 1/β is the input β beside a vector of
	// norm 1, in other units: W·(x/β) + b = (W/β)·x + (b/β)·β. Gradients are 1/β times as
	// long. A step with the learning rate η is one with η/β² in the other units. So clips
	// and learning rates that follow from the norms of gradients give the same models.
	Bias float64
}

// Pipeline is a backbone with what follows it: logarithms, public scales, minus a public mean, along public
// principal components, with a fixed norm. Make one with NewPipeline or Fit. It is immutable.
type Pipeline struct {
	backbone Features
	logs     []float64      // nil: none
	scaled   bool           // there are scales
	scale    []float64      // nil: none, or they are in project
	mean     []float64      // nil: nothing is taken away
	project  blas64.General // one component a row, times the scales; no rows: none
	offset   []float64      // of the mean along each component
	bias     float64
	digest   [32]byte
	name     string
	vectors  sync.Pool // *[]float64 of the backbone's Dim
}

var _ Features = (*Pipeline)(nil)

const (
	leastBias, largestBias = 0.01, 100
	maxComponents          = 1 << 14
)

// NewPipeline returns the pipeline of given parts, which are copied. Its digest covers their bits.
// Use it where the parts are shipped; Fit computes them.
//
// The error names scale, mean, components or bias. O(number of values).
func NewPipeline(backbone Features, parts Parts) (*Pipeline, error) {
	if err := parts.validate(backbone.Dim()); err != nil {
		return nil, fmt.Errorf("features: pipeline: %w", err)
	}
	r := newRecipe("pipeline")
	digest := backbone.Digest()
	r.bytes(digest[:])
	if len(parts.Logarithm) > 0 {
		r.text("logarithm")
		r.reals(parts.Logarithm...)
	}
	r.reals(parts.Scale...)
	r.reals(parts.Mean...)
	r.integers(len(parts.Components))
	for _, c := range parts.Components {
		r.reals(c...)
	}
	r.reals(parts.Bias)
	var words []string
	if len(parts.Logarithm) > 0 {
		words = append(words, "logarithms")
	}
	if len(parts.Scale) > 0 {
		words = append(words, "public scales")
	}
	if len(parts.Mean) > 0 {
		words = append(words, "minus a public mean")
	}
	if n := len(parts.Components); n > 0 {
		words = append(words, fmt.Sprintf("%d public components", n))
	}
	return assemble(backbone, parts, r.digest(), words), nil
}

// assemble makes a pipeline of parts that are valid. words name them, but for the norm.
func assemble(backbone Features, parts Parts, digest [32]byte, words []string) *Pipeline {
	p := &Pipeline{backbone: backbone, bias: parts.Bias, scaled: len(parts.Scale) > 0, digest: digest}
	d := backbone.Dim()
	p.vectors.New = func() any { v := make([]float64, d); return &v }
	if len(parts.Logarithm) > 0 {
		p.logs = slices.Clone(parts.Logarithm)
	}
	if len(parts.Mean) > 0 {
		p.mean = slices.Clone(parts.Mean)
	}
	if n := len(parts.Components); n > 0 {
		p.project = blas64.General{Rows: n, Cols: d, Stride: d, Data: slices.Concat(parts.Components...)}
		p.offset = make([]float64, n)
		if p.mean != nil {
			p.along(p.offset, p.mean)
		}
		if len(parts.Scale) > 0 {
			for row := range slices.Chunk(p.project.Data, d) {
				floats.Mul(row, parts.Scale)
			}
		}
	} else if len(parts.Scale) > 0 {
		p.scale = slices.Clone(parts.Scale)
	}
	if p.bias != 0 {
		words = append(words, fmt.Sprintf("norm %.4g", 1/p.bias))
	}
	p.name = strings.Join(append([]string{backbone.String()}, words...), ", ")
	return p
}

func (parts Parts) validate(d int) error {
	switch {
	case len(parts.Logarithm) != 0 && len(parts.Logarithm) != d:
		return fl.Invalid("logarithm", len(parts.Logarithm), "must have %d values, or none", d)
	case slices.ContainsFunc(parts.Logarithm, func(c float64) bool { return !(c > 0) || math.IsInf(c, 1) }):
		return fl.Invalid("logarithm", "a value", "must be finite and above 0")
	case len(parts.Scale) != 0 && len(parts.Scale) != d:
		return fl.Invalid("scale", len(parts.Scale), "must have %d values, or none", d)
	case slices.ContainsFunc(parts.Scale, notFinite):
		return fl.Invalid("scale", "NaN or Inf", "must be finite")
	case len(parts.Mean) != 0 && len(parts.Mean) != d:
		return fl.Invalid("mean", len(parts.Mean), "must have %d values, or none", d)
	case slices.ContainsFunc(parts.Mean, notFinite):
		return fl.Invalid("mean", "NaN or Inf", "must be finite")
	case len(parts.Components) > min(d, maxComponents):
		return fl.Invalid("components", len(parts.Components), "must be at most %d", min(d, maxComponents))
	case parts.Bias != 0 && !(parts.Bias >= leastBias && parts.Bias <= largestBias):
		return fl.Invalid("bias", parts.Bias, "must be in [%g, %d], or 0", leastBias, largestBias)
	}
	for i, c := range parts.Components {
		if len(c) != d || slices.ContainsFunc(c, notFinite) {
			return fl.Invalid(fmt.Sprintf("components[%d]", i), fmt.Sprintf("%d values", len(c)), "must be %d finite values", d)
		}
	}
	return nil
}

// logarithms replaces each value v by log(1+|v|/c), with the sign of v.
func logarithms(values, c []float64) {
	for i, v := range values {
		values[i] = math.Copysign(math.Log1p(math.Abs(v)/c[i]), v)
	}
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// along writes the product of x with each component into dst.
func (p *Pipeline) along(dst, x []float64) {
	blas64.Gemv(blas.NoTrans, 1, p.project, blas64.Vector{N: len(x), Data: x, Inc: 1}, 0, blas64.Vector{N: len(dst), Data: dst, Inc: 1})
}

// Inputs is the backbone's Inputs.
func (p *Pipeline) Inputs() int { return p.backbone.Inputs() }

// Dim is the number of components, or the backbone's Dim without components.
func (p *Pipeline) Dim() int {
	if n := p.project.Rows; n > 0 {
		return n
	}
	return p.backbone.Dim()
}

// Apply is what the interface says. It costs the backbone and O(backbone's Dim · components).
func (p *Pipeline) Apply(dst, x []float64) {
	check(p, dst, x)
	if p.project.Rows == 0 {
		p.backbone.Apply(dst, x)
		if p.logs != nil {
			logarithms(dst, p.logs)
		}
		if p.scale != nil {
			floats.Mul(dst, p.scale)
		}
		floats.Sub(dst[:len(p.mean)], p.mean) // which may be nil
	} else {
		v := p.vectors.Get().(*[]float64)
		defer p.vectors.Put(v)
		p.backbone.Apply(*v, x)
		if p.logs != nil {
			logarithms(*v, p.logs)
		}
		p.along(dst, *v)
		floats.Sub(dst, p.offset)
	}
	if p.bias == 0 {
		return
	}
	var square float64
	for _, v := range dst {
		square += v * v
	}
	if square == 0 {
		return
	}
	floats.Scale(1/(p.bias*math.Sqrt(square)), dst)
}

// Centred says whether all vectors of f have one norm around a public mean. Learning rates can then be
// larger: see plan.Training.Centred.
func Centred(f Features) bool {
	p, ok := f.(*Pipeline)
	return ok && p.mean != nil && p.bias != 0
}

// Keep returns the pipeline with the first k of its components, which vary most after Fit: fewer values have less noise together.
// It shares p's memory. The error names components unless k is in [1, p's components]. O(1).
func (p *Pipeline) Keep(k int) (*Pipeline, error) {
	if k < 1 || k > p.project.Rows {
		return nil, fmt.Errorf("features: pipeline: %w", fl.Invalid("components", k, "must be in [1, %d]", p.project.Rows))
	}
	r := newRecipe("first components")
	r.bytes(p.digest[:])
	r.integers(k)
	kept := &Pipeline{
		backbone: p.backbone, logs: p.logs, scaled: p.scaled, mean: p.mean, project: p.project, offset: p.offset[:k], bias: p.bias,
		digest: r.digest(), name: fmt.Sprintf("%s, the first %d of them", p.name, k),
	}
	kept.project.Rows = k
	kept.vectors.New = p.vectors.New
	return kept, nil
}

// Digest covers the backbone and the parts: their bits after NewPipeline, and how they were
// computed after Fit.
func (p *Pipeline) Digest() [32]byte { return p.digest }

func (p *Pipeline) String() string { return p.name }
