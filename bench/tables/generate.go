package tables

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

// columns is the number of inputs.
const columns = 30

// table has rows of inputs and a target each: 0 or 1 for classes.
type table struct {
	classes bool
	x       [][]float64
	y       []float64
}

// generate draws a table. Five hidden causes lead to thirty normal numbers that are correlated. A linear model of them leads to the
// target: two classes by its odds, or a number with normal noise. Of the columns in the table a third are these numbers, a third grow exponentially with
// them, which makes them skewed, and a third have heavy tails: they are the number times a Student variable's size.
func generate(rng *rand.Rand, rows int, classes bool) *table {
	t := &table{classes: classes}
	const causes = 5
	var loads [columns][causes]float64
	var weights, size [columns]float64
	for j := range columns {
		for k := range causes {
			loads[j][k] = rng.NormFloat64() / math.Sqrt(causes)
		}
		weights[j], size[j] = rng.NormFloat64()/math.Sqrt(columns), math.Pow(10, 4*rng.Float64()-2)
	}
	for range rows {
		var cause [causes]float64
		for k := range cause {
			cause[k] = rng.NormFloat64()
		}
		row, f := make([]float64, columns), 0.
		for j := range row {
			z := 0.6 * rng.NormFloat64()
			for k, c := range cause {
				z += 0.8 * loads[j][k] * c
			}
			f += weights[j] * z
			switch j % 3 {
			case 0:
				row[j] = size[j] * (3 + z)
			case 1:
				row[j] = size[j] * math.Exp(0.7*z)
			case 2: // four degrees of freedom
				square := (rng.ExpFloat64() + rng.ExpFloat64()) / 2
				row[j] = size[j] * z / math.Sqrt(square)
			}
		}
		y := f + 0.6*rng.NormFloat64()
		if classes {
			y = 0
			if rng.Float64() < 1/(1+math.Exp(-4*f)) {
				y = 1
			}
		}
		t.x, t.y = append(t.x, row), append(t.y, y)
	}
	return t
}

// public says what everybody knows: ranges in round numbers that all rows are within. A real table's ranges come from what its columns mean.
func (t *table) public() (inputs, target string) {
	round := func(v float64) float64 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v))))
		return math.Copysign(unit*math.Ceil(math.Abs(v)/unit), v)
	}
	var all []string
	column := make([]float64, len(t.x))
	for j := range columns {
		for i, row := range t.x {
			column[i] = row[j]
		}
		low, high := 0., round(slices.Max(column))
		if least := slices.Min(column); least < 0 {
			low = round(least)
		}
		all = append(all, fmt.Sprintf("c%d=%g..%g", j, low, high))
	}
	target = "y=no|yes"
	if !t.classes {
		target = fmt.Sprintf("y=%g..%g", round(slices.Min(t.y)), round(slices.Max(t.y)))
	}
	return strings.Join(all, ","), target
}

// write writes a CSV file.
func (t *table) write(path string) error {
	var records [][]string
	header := []string{}
	for j := range columns {
		header = append(header, fmt.Sprintf("c%d", j))
	}
	records = append(records, append(header, "y"))
	for i, row := range t.x {
		var cells []string
		for _, v := range row {
			cells = append(cells, strconv.FormatFloat(v, 'g', -1, 64))
		}
		y := strconv.FormatFloat(t.y[i], 'g', -1, 64)
		if t.classes {
			y = []string{"no", "yes"}[int(t.y[i])]
		}
		records = append(records, append(cells, y))
	}
	var text strings.Builder
	if err := csv.NewWriter(&text).WriteAll(records); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

// split returns the rows for training and every fifth, for testing, as examples/tabular has them.
func (t *table) split() (train, test *table) {
	train, test = &table{classes: t.classes}, &table{classes: t.classes}
	for i, row := range t.x {
		to := train
		if i%5 == 4 {
			to = test
		}
		to.x, to.y = append(to.x, row), append(to.y, t.y[i])
	}
	return train, test
}
