package fltest_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// toyAccuracy returns two clients' gradients and the exact error of the toy's mean. One
// report adds gain·d·scale with a random sign to one of d coordinates, which has the second
// moment gain²·d·scale² in each: the sum of the variances is gain²·d²·scale² minus the
// squared norm of the gradient.
func toyAccuracy(r fl.Round) fltest.Accuracy {
	first, second := make([]float64, r.Dim), make([]float64, r.Dim)
	for j := range r.Dim {
		first[j], second[j] = r.Scale*float64(j%3-1), r.Scale/2
	}
	truth, norm2 := make([]float64, r.Dim), 0.0
	for j := range truth {
		truth[j] = (first[j] + second[j]) / 2
		norm2 += (first[j]*first[j] + second[j]*second[j]) / 2
	}
	gain, d := 1/math.Tanh(r.Epsilon/4), float64(r.Dim) // Encode has ε/2
	return fltest.Accuracy{
		Gradients: [][]float64{first, second}, Truth: truth, MSE: gain*gain*d*d*r.Scale*r.Scale - norm2, StdErrFactor: 1.05, NoiseFactor: 1.05,
	}
}

// False-positive rate: 26 statistics at 7 standard errors of 99 degrees of freedom, 8e-9.
// The standard errors are for gradients of 0, which makes them at most 2 % too large.
func TestTheToyIsAsAccurateAsItSays(t *testing.T) {
	r := round("toy")
	if err := fltest.Rounds(r, toyAccuracy(r)); err != nil {
		t.Error(err)
	}
}

func TestInaccuracyIsFound(t *testing.T) {
	r := round("toy")
	plainly := func(change func(e *fl.Estimate)) fl.Round {
		r := round(register(plainFactory{local, change}))
		r.Columns = nil
		return r
	}
	scaled := func(v []float64, by float64) {
		for j := range v {
			v[j] *= by
		}
	}
	for _, c := range []struct {
		name   string
		round  fl.Round
		change func(a *fltest.Accuracy)
		says   []string
	}{
		{"nothing", plainly(func(*fl.Estimate) {}), func(*fltest.Accuracy) {}, nil},
		{"less error", r, func(a *fltest.Accuracy) { a.MSE *= 1.3 }, []string{"accuracy"}},
		{"more error", r, func(a *fltest.Accuracy) { a.MSE /= 1.3 }, []string{"accuracy"}},
		{"another truth", r, func(a *fltest.Accuracy) { a.Truth[7] += 3 }, []string{"bias: 1 of 20 coordinates", "coordinate 7"}},
		{"one biased coordinate", plainly(func(e *fl.Estimate) { e.Mean().Value[3] -= 3 }), func(*fltest.Accuracy) {}, []string{"bias: 1 of 20 coordinates", "coordinate 3"}},
		{"shrunk", plainly(func(e *fl.Estimate) { scaled(e.Mean().Value, 0.5) }), func(*fltest.Accuracy) {}, []string{"accuracy", "standard errors"}},
		{"no number", plainly(func(e *fl.Estimate) { e.Mean().Value[2] = math.NaN() }), func(*fltest.Accuracy) {}, []string{"accuracy", "bias", "coordinate 2"}},
		{"sure of itself", plainly(func(e *fl.Estimate) { scaled(e.Mean().StdErr, 0.7) }), func(*fltest.Accuracy) {}, []string{"standard errors"}},
		{"unsure", plainly(func(e *fl.Estimate) { scaled(e.Mean().StdErr, 1.4) }), func(*fltest.Accuracy) {}, []string{"standard errors"}},
		{"too little noise", plainly(func(e *fl.Estimate) { e.NoiseNorm *= 0.7 }), func(*fltest.Accuracy) {}, []string{"norm of the noise"}},
		{"too much noise", plainly(func(e *fl.Estimate) { e.NoiseNorm *= 1.4 }), func(*fltest.Accuracy) {}, []string{"norm of the noise"}},
		{"no norm", plainly(func(e *fl.Estimate) { e.NoiseNorm = math.NaN() }), func(*fltest.Accuracy) {}, []string{"norm of the noise"}},
		{"no norm asked for", plainly(func(e *fl.Estimate) { e.NoiseNorm = math.NaN() }), func(a *fltest.Accuracy) { a.NoiseFactor = 0 }, nil},
		{"no standard errors", plainly(func(e *fl.Estimate) { e.Columns[0].StdErr = nil }), func(*fltest.Accuracy) {}, []string{"standard errors"}},
		{"none asked for", plainly(func(e *fl.Estimate) { e.Columns[0].StdErr = nil }), func(a *fltest.Accuracy) { a.StdErrFactor = 0 }, nil},
		{"a short mean", plainly(func(e *fl.Estimate) { e.Columns[0].Value = e.Columns[0].Value[1:] }), func(*fltest.Accuracy) {}, []string{"round 0", "19 coordinates"}},
		{"a gradient that is none", r, func(a *fltest.Accuracy) { a.Gradients[0][3] = math.NaN() }, []string{"round 0: gradient"}},
		{"a panic", plainly(func(*fl.Estimate) { panic("no mean") }), func(*fltest.Accuracy) {}, []string{"round 0: panic: no mean"}},
	} {
		a := toyAccuracy(c.round)
		c.change(&a)
		err := fltest.Rounds(c.round, a)
		if (err == nil) != (c.says == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, says := range c.says {
			if err == nil || !strings.Contains(err.Error(), "fltest: ") || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: found as %v, want an error that says %q", c.name, err, says)
			}
		}
	}
}

func TestAccuracyIsChecked(t *testing.T) {
	r := round("toy")
	for param, change := range map[string]func(a *fltest.Accuracy){
		"gradients":      func(a *fltest.Accuracy) { a.Gradients[1] = a.Gradients[1][1:] },
		"truth":          func(a *fltest.Accuracy) { a.Truth = a.Truth[1:] },
		"mse":            func(a *fltest.Accuracy) { a.MSE = math.NaN() },
		"reports":        func(a *fltest.Accuracy) { a.Reports = 13 },
		"rounds":         func(a *fltest.Accuracy) { a.Rounds = 19 },
		"z":              func(a *fltest.Accuracy) { a.Z = -1 },
		"std_err_factor": func(a *fltest.Accuracy) { a.StdErrFactor = 0.99 },
		"noise_factor":   func(a *fltest.Accuracy) { a.NoiseFactor = 0.99 },
	} {
		a := toyAccuracy(r)
		a.Gradients = slices.Clone(a.Gradients)
		change(&a)
		var p *fl.ParamError
		if err := fltest.Rounds(r, a); !errors.As(err, &p) || p.Param != param {
			t.Errorf("error %v, want a ParamError for %s", err, param)
		}
	}
	if err := fltest.Rounds(r, fltest.Accuracy{}); err == nil {
		t.Error("no gradients: want an error")
	}
	few := toyAccuracy(r)
	few.Reports = 10
	if err := fltest.Rounds(r, few); err == nil || !strings.Contains(err.Error(), "min_reports = 12") {
		t.Errorf("fewer reports than the round wants: error %v", err)
	}
}
