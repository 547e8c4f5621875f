package tables

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// A generated table has what it is for: skewed columns, heavy tails, correlation, and a target with some sense.
func TestGeneratedTablesAreSkewedCorrelatedAndHeavyTailed(t *testing.T) {
	rows := generate(experiment.Stream(3, 1), 5000, false)
	column := func(j int) []float64 {
		var out []float64
		for _, row := range rows.x {
			out = append(out, row[j])
		}
		return out
	}
	if skew := stat.Skew(column(1), nil); skew < 1 {
		t.Errorf("column 1 has a skew of %g, want a lognormal number's, above 1", skew)
	}
	if tails := stat.ExKurtosis(column(2), nil); tails < 2 {
		t.Errorf("column 2 has an excess kurtosis of %g, want heavy tails", tails)
	}
	most := 0.
	for j := 3; j < columns; j += 3 {
		most = max(most, math.Abs(stat.Correlation(column(0), column(j), nil)))
	}
	if most < 0.3 {
		t.Errorf("the largest correlation of column 0 is %g", most)
	}
}

// At the optimum the gradient of loss and penalty is zero, and a trusted server comes near.
func TestTheOptimumHasNoGradient(t *testing.T) {
	for _, classes := range []bool{true, false} {
		rng := experiment.Stream(4, 1)
		train, _ := generate(rng, 3000, classes).split()
		rows := train.standard(train.moments())
		w, err := rows.optimum()
		if err != nil {
			t.Fatal(err)
		}
		gradient := append(append([]float64{}, w[:columns]...), 0)
		for i, row := range rows.x {
			_, slope := rows.loss()(floats.Dot(w, row), rows.y[i])
			floats.AddScaled(gradient, slope, row)
		}
		if norm := floats.Norm(gradient, 2); norm > 1e-8 {
			t.Errorf("classes %v: the gradient at the optimum has the norm %g", classes, norm)
		}
		if best := rows.score(w); best < 0.6 {
			t.Errorf("classes %v: the optimum's score is %g", classes, best)
		}
	}
}
