package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// unseen are rows whose target the trained model is to predict. They take no part in the training, and no server sees them.
type unseen struct {
	x       [][]float64
	lines   []int    // of the file
	ids     []string // what --id names the rows by; nil without it
	unfit   []string // the columns whose cells do not fit
	misfits *misfits
}

// readUnseen reads the file of --predict. Its rows need no target.
func (o options) readUnseen(ctx context.Context) (*unseen, error) {
	r, file, err := open(ctx, "--predict", o.predict)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out, err := readUnseen(r, o.separator, o.schema, o.id)
	if err != nil {
		return nil, fmt.Errorf("--predict: %s: %w", o.predict, err)
	}
	return out, nil
}

// readUnseen reads rows without a target from a CSV stream. id is the column that names them, or empty.
func readUnseen(r io.Reader, separator rune, s schema, id string) (*unseen, error) {
	columns := s.inputs
	if id != "" {
		columns = append(slices.Clone(columns), column{name: id})
	}
	in, err := newRecords(r, separator, true, columns)
	if err != nil {
		return nil, err
	}
	out := &unseen{misfits: newMisfits(s.inputs, -1, "line")}
	for most := maxFileNumbers / s.features(); ; {
		cells, line, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && len(out.x) == 0:
			return nil, fl.Invalid("rows", "nothing", "must have one below the header")
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case len(out.x) == most:
			return nil, fl.Invalid("rows", most+1, "must be at most %d with %d values each", most, s.features())
		}
		if id != "" {
			out.ids = append(out.ids, strings.Clone(cells[len(s.inputs)])) // the row's memory is much more
			cells = cells[:len(s.inputs)]
		}
		x, how := s.values(cells)
		out.misfits.add(line, cells, how)
		var unfit []string
		for i, c := range s.inputs {
			if how[i] != fits {
				unfit = append(unfit, c.name)
			}
		}
		out.x, out.lines, out.unfit = append(out.x, x), append(out.lines, line), append(out.unfit, strings.Join(unfit, ", "))
	}
}

// sentences say how many rows there are, and which cells do not fit.
func (r *unseen) sentences() []string {
	return append([]string{fmt.Sprintf("%d rows; predictions.csv has, for each, the columns that do not fit", len(r.x))}, r.misfits.sentences()...)
}

// writePredictions writes a line for each row: its line in the file, its id, what the model predicts, the chance of each class, and the columns
// whose cells do not fit.
func (o options) writePredictions(w io.Writer, t task, scale *scaling, params []float64) error {
	target := o.schema.target
	head := []string{"line"}
	if o.id != "" {
		head = append(head, o.id)
	}
	head = append(head, target.name)
	for _, v := range target.values {
		head = append(head, "chance of "+v)
	}
	out := csv.NewWriter(w)
	if err := out.Write(append(head, "unfit")); err != nil {
		return err
	}
	coefficients := make([][]float64, len(t.classes))
	for k := range coefficients {
		coefficients[k] = t.coefficients(params, k)
	}
	x := o.schema.expand.of(scale.of(rows{o.unseen.x, make([]float64, len(o.unseen.x))})).x
	for i, row := range x {
		var z []float64
		for _, w := range coefficients {
			z = append(z, floats.Dot(w[:len(row)], row)+w[len(row)])
		}
		line := []string{strconv.Itoa(o.unseen.lines[i])}
		if o.id != "" {
			line = append(line, o.unseen.ids[i])
		}
		if target.values == nil {
			line = append(line, text(scale.number(target, z[0])))
		} else {
			chances := chances(z)
			line = append(line, target.values[floats.MaxIdx(chances)])
			for _, p := range chances {
				line = append(line, strconv.FormatFloat(p, 'f', 4, 64))
			}
		}
		if err := out.Write(append(line, o.unseen.unfit[i])); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// chances are the chances of classes with the logits z. One logit is the second of two classes, beside 0.
func chances(z []float64) []float64 {
	if len(z) == 1 {
		z = []float64{0, z[0]}
	}
	out, all := slices.Clone(z), floats.LogSumExp(z)
	for k := range out {
		out[k] = math.Exp(out[k] - all)
	}
	return out
}

// number is the target that is z spreads from its centre.
func (s *scaling) number(target column, z float64) float64 {
	last := len(s.numbers) - 1
	share := (s.centre[last] + z*s.spread[last] + 1) / 2
	return target.low + share*(target.high-target.low)
}
