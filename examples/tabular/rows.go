package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// rows are the rows of clients, one each, with their targets.
type rows struct {
	x [][]float64
	y []float64
}

// Limits of a file.
const (
	maxFileBytes   = 4 << 30
	maxFileNumbers = 1 << 28 // rows times columns: 2 GiB
)

// readFile reads a CSV file with a header. Every fifth row is for testing.
func readFile(ctx context.Context, path string, s schema) (train, test rows, err error) {
	f, err := os.Open(path)
	if err != nil {
		return train, test, fl.Invalid("-data", path, "must be readable: %v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return train, test, err
	}
	if info.Size() > maxFileBytes {
		return train, test, fl.Invalid(path, fmt.Sprintf("%d bytes", info.Size()), "must have at most %d", int64(maxFileBytes))
	}
	if train, test, err = read(command.Reader(ctx, f), s); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return train, test, err
}

// read reads rows from a CSV stream.
func read(r io.Reader, s schema) (train, test rows, err error) {
	in := csv.NewReader(io.LimitReader(r, maxFileBytes))
	in.ReuseRecord = true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		err = fl.Invalid("header", "nothing", "must name the columns")
	}
	if err != nil {
		return train, test, err
	}
	at := map[string]int{}
	for _, c := range append(slices.Clone(s.inputs), s.target) {
		i := slices.Index(header, c.name)
		if i < 0 {
			return train, test, fl.Invalid("header", header, "must have the column %q", c.name)
		}
		at[c.name] = i
	}
	for n := 0; ; n++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return train, test, err
		}
		if n >= maxFileNumbers/s.width() {
			return train, test, fl.Invalid("rows", n+1, "must be at most %d with %d values each", maxFileNumbers/s.width(), s.width())
		}
		to := &train
		if n%5 == 4 {
			to = &test
		}
		to.add(s.row(func(name string) string { return record[at[name]] }))
	}
	if len(train.y) < 2 || len(test.y) == 0 {
		return train, test, fl.Invalid("rows", len(train.y)+len(test.y), "must be at least 5")
	}
	return train, test, nil
}

func (r *rows) add(x []float64, y float64) { r.x, r.y = append(r.x, x), append(r.y, y) }

// What is public about the generated table: people, and what they earn.
const (
	generatedColumns = "age=17..90,school=0..20,hours=1..99,sector=private|public|self-employed|none"
	generatedTarget  = "income=low|high"
	generatedOther   = "wage=0..100" // another target
)

// generate draws rows of the generated table. Schooling leads to the public sector, long hours to
// work of one's own, and short ones to none. Pay per hour grows with schooling and with age up to
// 55, and depends on the sector. Income is high where the wage of the week is above 20.
func generate(rng *rand.Rand, n int, s schema) (r rows) {
	sectors := []string{"private", "public", "self-employed", "none"}
	pay := []float64{0, 0.1, 0.2, -2}
	for range n {
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
		cells := map[string]string{
			"age": text(math.Floor(age)), "school": text(math.Floor(school)), "hours": text(math.Floor(hours)), "sector": sectors[sector],
			"income": income, "wage": text(math.Round(10*wage) / 10),
		}
		r.add(s.row(func(name string) string { return cells[name] }))
	}
	return r
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// draw returns rows that anybody can draw from what is public: each cell is as likely to be any
// of its range or list. They show the size of gradients before anybody takes part.
func draw(rng *rand.Rand, n int, s schema) (r rows) {
	for range n {
		cells := map[string]string{}
		for _, c := range append(slices.Clone(s.inputs), s.target) {
			if c.values != nil {
				cells[c.name] = c.values[rng.IntN(len(c.values))]
			} else {
				cells[c.name] = text(c.low + (c.high-c.low)*rng.Float64())
			}
		}
		r.add(s.row(func(name string) string { return cells[name] }))
	}
	return r
}
