package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// rows are the rows of clients, one each, with their targets.
type rows struct {
	x [][]float64
	y []float64
}

func (r *rows) add(x []float64, y float64) { r.x, r.y = append(r.x, x), append(r.y, y) }

// table is what was read or generated.
type table struct {
	schema      schema
	train, test rows
	misfits     *misfits
	hashed      *hashed
}

func newTable(s schema, place string) *table {
	return &table{schema: s, misfits: newMisfits(s.columns(), len(s.inputs), place), hashed: newHashed(s)}
}

// add takes a row whose cells are in the order of the schema's columns. A row without a known target
// is counted as a misfit and goes nowhere.
func (t *table) add(place int, cells []string, forTest bool) {
	x, y, how := t.schema.row(cells)
	t.misfits.add(place, cells, how)
	t.hashed.add(cells)
	switch target := how[len(how)-1]; {
	case target == ignored:
	case !forTest:
		t.train.add(x, y)
	case target == fits:
		t.test.add(x, y)
	}
}

// check refuses a table that a score says nothing about.
func (t *table) check() error {
	if err := t.misfits.check(); err != nil {
		return err
	}
	if len(t.train.y) < 2 || len(t.test.y) == 0 {
		return fl.Invalid("rows", len(t.train.y)+len(t.test.y), "must be at least 5 with a target")
	}
	target := shortened(t.schema.target.String())
	if constant(t.train.y) {
		return fl.Invalid("--target", target, "must have two different values in the rows for training: there is nothing to learn")
	}
	if constant(t.test.y) {
		return fl.Invalid("--target", target, "must have two different values in the rows for testing, every fifth: mix the rows, or add some; a score of one value says nothing")
	}
	return nil
}

func constant(y []float64) bool { return slices.Min(y) == slices.Max(y) }

// Limits of a file.
const (
	maxFileBytes   = 4 << 30
	maxRowBytes    = 1 << 20
	maxFileNumbers = 1 << 28 // rows times columns: 2 GiB
)

// open opens the file of a flag. Reading it ends with ctx.
func open(ctx context.Context, flag, path string) (r io.Reader, file io.Closer, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fl.Invalid(flag, path, "must be readable: %v", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() > maxFileBytes {
		err = fl.Invalid(path, fmt.Sprintf("%d bytes", info.Size()), "must have at most %d", int64(maxFileBytes))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return command.Reader(ctx, f), f, nil
}

// readFile reads a CSV file with a header. Every fifth row is for testing.
func readFile(ctx context.Context, path string, separator rune, s schema) (*table, error) {
	r, file, err := open(ctx, "--data", path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := read(r, separator, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// read reads rows from a CSV stream.
func read(r io.Reader, separator rune, s schema) (*table, error) {
	in, err := newRecords(r, separator, false, s.columns())
	if err != nil {
		return nil, err
	}
	t := newTable(s, "line")
	for n := 0; ; n++ {
		cells, line, err := in.next()
		if errors.Is(err, io.EOF) {
			return t, t.check()
		}
		if err != nil {
			return nil, err
		}
		if most := maxFileNumbers / s.features(); n >= most {
			return nil, fl.Invalid("rows", n+1, "must be at most %d with %d values each", most, s.features())
		}
		t.add(line, cells, n%5 == 4)
	}
}

// What is public about the generated table: people, and what they earn.
const (
	generatedColumns = "age=17..90,school=0..20,hours=1..99,sector=private|public|self-employed|none"
	generatedTarget  = "income=low|high"
	generatedOther   = "wage=0..100" // another target
)

// generate draws the generated table: rows for training, and then rows for testing. Schooling leads to
// the public sector, long hours to work of one's own, and short ones to none. Pay per hour grows with
// schooling and with age up to 55, and depends on the sector. Income is high where the wage of the week
// is above 20.
func generate(rng *rand.Rand, train, test int, s schema) *table {
	t, cells := newTable(s, "row"), make([]string, len(s.inputs)+1)
	sectors := []string{"private", "public", "self-employed", "none"}
	pay := []float64{0, 0.1, 0.2, -2}
	for n := range train + test {
		age, school := 17+73*rng.Float64()*rng.Float64(), math.Min(20, math.Max(0, 11+3*rng.NormFloat64()))
		hours := math.Min(99, math.Max(1, 38+12*rng.NormFloat64()))
		sector, best := 0, math.Inf(-1)
		for k, appeal := range []float64{1, 0.5 * (school - 11), 0.15 * (hours - 45), 0.2 * (25 - hours)} {
			if appeal += rng.NormFloat64(); appeal > best {
				sector, best = k, appeal
			}
		}
		hourly := math.Exp(-1.6 + 0.09*school + 0.012*math.Min(age-17, 38) + pay[sector] + 0.3*rng.NormFloat64())
		wage, income := hours*hourly, "low"
		if wage > 20 {
			income = "high"
		}
		all := map[string]string{
			"age": text(math.Floor(age)), "school": text(math.Floor(school)), "hours": text(math.Floor(hours)), "sector": sectors[sector],
			"income": income, "wage": text(math.Round(10*wage) / 10),
		}
		for i, c := range s.columns() {
			cells[i] = all[c.name]
		}
		t.add(n+1, cells, n >= train)
	}
	return t
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// draw returns scaled rows that anybody can draw from what is public. Their numbers have heavy tails, as many columns have, and their
// values of lists are equally likely. The target follows a random linear model, with as much chance in it as sense.
// They show what gradients are like before anybody takes part.
func draw(rng *rand.Rand, n int, s schema) (r rows) {
	heavy := func() float64 { return rng.NormFloat64() * math.Sqrt(rng.ExpFloat64()) } // Laplace's law, with a variance of 1
	weights := make([][]float64, s.target.width())
	for k := range weights {
		weights[k] = make([]float64, s.width())
		for j := range weights[k] {
			weights[k][j] = rng.NormFloat64() / math.Sqrt(float64(len(s.inputs)))
		}
	}
	for range n {
		var x []float64
		for _, c := range s.inputs {
			if c.isNumber() {
				x = append(x, min(max(heavy(), -mostSpreads), mostSpreads))
				continue
			}
			x = append(x, make([]float64, c.width())...)
			x[len(x)-1-rng.IntN(c.width())] = 1
		}
		y, best := (floats.Dot(weights[0], x)+heavy())/math.Sqrt2, math.Inf(-1)
		if s.target.values != nil {
			for k, w := range weights {
				if appeal := 2*floats.Dot(w, x) - math.Log(rng.ExpFloat64()); appeal > best {
					y, best = float64(k), appeal
				}
			}
		}
		r.add(x, y)
	}
	return r
}
