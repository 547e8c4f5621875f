package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// expansion adds features to scaled rows: products of pairs of values, or random Fourier features (Rahimi and Recht, NIPS 2007). A
// linear model of them is a nonlinear model of the columns. They follow from what is public, so each client computes its own alone, and
// no budget is spent on them.
type expansion struct {
	pairs       [][2]int    // of values, the same twice for a square
	frequencies [][]float64 // of random Fourier features
	phases      []float64
	// scale has all added features together count as much as the columns: their mean squares then add up to the number of columns.
	scale float64
}

// Kinds of --expand.
const (
	products = "products"
	fourier  = "fourier"
)

// maxFeatures is how wide an expanded row may be. Noise grows with the width.
const maxFeatures = 2000

// parseExpansion reads "products", "fourier:100" or "fourier:100:7", where the last number is a seed.
func parseExpansion(text string, s schema) (e expansion, err error) {
	kind, rest, parts := strings.Cut(text, ":")
	switch {
	case text == "":
		return e, nil
	case kind == products && !parts:
		return newProducts(s)
	case kind != fourier || !parts:
		return e, fl.Invalid("--expand", shortened(text), "must be %s, %s:K for K random features, or %s:K:SEED", products, fourier, fourier)
	}
	number, seeded, isSeeded := strings.Cut(rest, ":")
	k, wrong := strconv.Atoi(number)
	if most := maxFeatures - s.width(); wrong != nil || k < 1 || k > most {
		return e, fl.Invalid("--expand", shortened(text), "must have from 1 to %d random features: with the %d values of a row they are at most %d. Type %s:%d", most, s.width(), maxFeatures, fourier, max(1, min(most, 100)))
	}
	seed := uint64(1)
	if isSeeded {
		if seed, wrong = strconv.ParseUint(seeded, 10, 64); wrong != nil {
			return e, fl.Invalid("--expand", shortened(text), "must end with a seed from 0 to 2^64−1: type %s:%d:1", fourier, k)
		}
	}
	return newFourier(s, k, seed), nil
}

// newProducts has the product of each two values of different columns, and the square of each number.
func newProducts(s schema) (e expansion, err error) {
	type place struct {
		column int
		number bool
	}
	var at []place
	for i, c := range s.inputs {
		for range c.width() {
			at = append(at, place{i, c.isNumber()})
		}
	}
	units := len(s.inputs) * (len(s.inputs) - 1) / 2 // pairs of columns and squares, of which each has a mean square of about 1
	for i, a := range at {
		if a.number {
			units++
			e.pairs = append(e.pairs, [2]int{i, i})
		}
		for j := i + 1; j < len(at); j++ {
			if at[j].column != a.column {
				e.pairs = append(e.pairs, [2]int{i, j})
			}
		}
		if all := len(at) + len(e.pairs); all > maxFeatures {
			return e, fl.Invalid("--expand", products, "must lead to at most %d features, and the products of %d values are more: name fewer columns or values, or type %s:100", maxFeatures, len(at), fourier)
		}
	}
	if units == 0 {
		return e, fl.Invalid("--expand", products, "must have two columns to multiply, or a number to square")
	}
	e.scale = math.Sqrt(float64(len(s.inputs)) / float64(units))
	return e, nil
}

// newFourier draws frequencies: what one feature sees of a row has a variance of about 1.
func newFourier(s schema, k int, seed uint64) expansion {
	e := expansion{scale: math.Sqrt(float64(len(s.inputs)) / float64(k))}
	rng := rand.New(rand.NewPCG(6, seed))
	for range k {
		f := make([]float64, s.width())
		for j := range f {
			f[j] = rng.NormFloat64() / math.Sqrt(float64(len(s.inputs)))
		}
		e.frequencies, e.phases = append(e.frequencies, f), append(e.phases, 2*math.Pi*rng.Float64())
	}
	return e
}

// width is the number of features that are added.
func (e expansion) width() int { return len(e.pairs) + len(e.frequencies) }

// of returns scaled rows with the added features behind their values. A product is cut as a number is, at mostSpreads.
func (e expansion) of(r rows) (out rows) {
	if e.width() == 0 {
		return r
	}
	for i, row := range r.x {
		x := append(make([]float64, 0, len(row)+e.width()), row...)
		for _, p := range e.pairs {
			v := row[p[0]] * row[p[1]]
			if p[0] == p[1] {
				v = (v - 1) / math.Sqrt2 // a square of a normal number with a variance of 1 has the mean 1 and the variance 2
			}
			x = append(x, e.scale*min(max(v, -mostSpreads), mostSpreads))
		}
		for k, f := range e.frequencies {
			x = append(x, e.scale*math.Sqrt2*math.Cos(floats.Dot(f, row)+e.phases[k]))
		}
		out.add(x, r.y[i])
	}
	return out
}

// names are the names of the added features.
func (e expansion) names(values []string) (names []string) {
	for _, p := range e.pairs {
		names = append(names, values[p[0]]+" × "+values[p[1]])
	}
	for k := range e.frequencies {
		names = append(names, fmt.Sprintf("%s %d", fourier, k+1))
	}
	return names
}

// sentence says what is added.
func (e expansion) sentence() string {
	what := fmt.Sprintf("%d products of two values or squares, each cut at %d", len(e.pairs), mostSpreads)
	if e.frequencies != nil {
		what = fmt.Sprintf("%d random Fourier features √2·cos(w·x + b)", len(e.frequencies))
	}
	return fmt.Sprintf("%s, times %.3g: together they count as much as the columns. They follow from public numbers, and cost no budget.", what, e.scale)
}

// writeFourier writes a line with b and w for each random feature √2·cos(w·x + b)·scale. x are the values of a row, centred and scaled.
func (e expansion) writeFourier(w io.Writer, values []string) error {
	records := [][]string{append([]string{"feature", "scale", "b"}, values...)}
	for k, f := range e.frequencies {
		line := []string{fmt.Sprintf("%s %d", fourier, k+1), text(e.scale), text(e.phases[k])}
		for _, v := range f {
			line = append(line, text(v))
		}
		records = append(records, line)
	}
	return csv.NewWriter(w).WriteAll(records)
}
