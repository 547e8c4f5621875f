package main

import (
	"context"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// scaling has the centre and the spread of each column of numbers, in places of its range from −1 to 1. Values of lists
// stay what they are. Steps along columns that are centred and have one spread are about equally good, so a few rounds reach the best model.
type scaling struct {
	numbers        []bool // by value of a row; the last is the target
	centre, spread []float64
	learnt         []int // whose centre and spread nobody has said
}

// Where nothing is known of a column, its numbers count as spread evenly over its range.
var evenSpread = 1 / math.Sqrt(3)

// leastSpread is the smallest spread as a share of the range. A column that mostly has one number would have none.
const leastSpread = 1. / 256

// mostSpreads is how far from the centre a number counts.
const mostSpreads = 3

func newScaling(s schema) *scaling {
	n := s.width() + 1
	out := &scaling{numbers: make([]bool, n), centre: make([]float64, n), spread: make([]float64, n)}
	at := 0
	for _, c := range s.columns() {
		if c.isNumber() {
			out.numbers[at], out.spread[at] = true, evenSpread
			if c.spread > 0 {
				out.centre[at], out.spread[at] = c.place(c.centre), 2*c.spread/(c.high-c.low)
			} else {
				out.learnt = append(out.learnt, at)
			}
		}
		at += c.width()
	}
	return out
}

// of returns rows that are centred and scaled. A number that is not known becomes 0, the centre.
func (s *scaling) of(r rows) (out rows) {
	target := len(s.numbers) - 1
	for i, row := range r.x {
		x, y := make([]float64, len(row)), r.y[i]
		for j, v := range row {
			if x[j] = v; s.numbers[j] {
				x[j] = min(max(s.apart(j, v), -mostSpreads), mostSpreads)
			}
		}
		if s.numbers[target] {
			y = s.apart(target, y)
		}
		out.add(x, y)
	}
	return out
}

// apart is how many spreads a number is from its column's centre.
func (s *scaling) apart(j int, v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return (v - s.centre[j]) / s.spread[j]
}

// learning is a round whose clients say where their numbers are, instead of sending a gradient. It implements trainer.Gradients.
// A client's answer about a column is from −1 to 1, times magnitude, so that nothing is clipped. The report of such a round is as private as
// any other, and counts among the rounds of the run.
type learning struct {
	*scaling
	rows      rows
	order     []int // the row of each client, as trainer.NewLinear and trainer.NewClients deal them
	dim       int
	magnitude float64
	spreads   bool // the round is about spreads, not centres
}

func (l *learning) Len() int     { return len(l.order) }
func (l *learning) Dim() int     { return l.dim }
func (l *learning) Close() error { return nil }

// Each implements trainer.Gradients.
func (l *learning) Each(ctx context.Context, _ []float64, first, last int, visit func(turn int, answer []float64) error) error {
	answer := make([]float64, l.dim)
	for turn := first; turn < last; turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := l.order[turn%l.Len()]
		for k, j := range l.learnt {
			v := l.rows.y[i]
			if j < len(l.rows.x[i]) {
				v = l.rows.x[i][j]
			}
			answer[k] = l.magnitude * l.answer(j, v)
		}
		if err := visit(turn, answer); err != nil {
			return err
		}
	}
	return nil
}

// Squares of distances from the centre count up to squareLimit. Their mean is normalSquare for normal numbers with the right spread.
const (
	squareLimit  = 4.
	normalSquare = 0.92
)

// answer is on which side of the centre a number is, and how far up to a spread, or how large the square of its distance is.
func (l *learning) answer(j int, v float64) float64 {
	apart := l.apart(j, v)
	if !l.spreads {
		return min(max(apart, -1), 1)
	}
	square := min(apart*apart, squareLimit)
	if math.IsNaN(v) {
		square = normalSquare
	}
	return 2*square/squareLimit - 1
}

// stepOf is the share of the way that a round goes, and whether the columns are averaged after it.
func stepOf(i, rounds int) (step float64, late bool) {
	if i >= rounds/2 {
		return 0.65, true
	}
	return 1, false
}

// learn holds the given number of rounds, which is even: rounds about centres and about spreads take turns. The second half of them takes smaller steps, and
// their average counts.
func (l *learning) learn(ctx context.Context, rounds trainer.Rounds, number int) error {
	centre, spread := make([]float64, len(l.centre)), make([]float64, len(l.spread)) // sums, of logarithms for spreads
	averaged := 0.
	for i := range number {
		l.spreads = i%2 == 1
		e, err := rounds.Mean(ctx, i, make([]float64, l.dim))
		if err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		step, late := stepOf(i, number)
		for k, j := range l.learnt {
			mean := min(max(e.Mean().Value[k]/l.magnitude, -1), 1)
			if l.spreads {
				// The square of a spread is in proportion to the mean square, as far as none is above the limit. Noise hides small ones.
				square := max((mean+1)/2*squareLimit, normalSquare/10)
				l.spread[j] = min(max(l.spread[j]*math.Pow(square/normalSquare, step/2), 2*leastSpread), 1)
			} else {
				l.centre[j] = min(max(l.centre[j]+step*mean*l.spread[j], -1), 1)
			}
		}
		if late && l.spreads {
			averaged++
			for _, j := range l.learnt {
				centre[j] += l.centre[j]
				spread[j] += math.Log(l.spread[j])
			}
		}
	}
	for _, j := range l.learnt {
		l.centre[j], l.spread[j] = centre[j]/averaged, math.Exp(spread[j]/averaged)
	}
	return nil
}

// A share of the run's rounds is about columns: enough to find a spread that is a hundredth of the range, by factors of up to √10.
const (
	columnsShare  = 0.1
	columnsRounds = 12
	// mostError is how large the standard error of a centre may be, in spreads. With a larger one even spreads are assumed.
	mostError = 0.35
)

// preparation is what is done about columns before the first gradient.
type preparation struct {
	rounds    int     // 0: none
	magnitude float64 // of an answer
	text      string  // for people
}

// sum is a mechanism that adds noise to a sum.
type sum interface {
	// StandardError is the noise of a coordinate of the mean of vectors that come in reports.
	StandardError(vectors, reports int) float64
}

// magnitude is how large an answer about each of k columns may be, so that nothing is clipped.
func magnitude(run *plan.Run, k int) float64 {
	_, isSum := run.Opened.(sum)
	switch scale := run.Template.Scale; {
	case run.Schedule == nil && !isSum:
		return 1
	case run.Sparsity > 0:
		return scale * min(1, float64(run.Sparsity)/float64(k))
	default:
		return scale / math.Sqrt(float64(k))
	}
}

// evenInside is the share of numbers within a spread of their centre where they lie evenly around it: the mean answer's slope depends on it. Numbers with one peak,
// such as normal ones, have a larger share, and their centre has less error.
const evenInside = 0.60

// settled is the error of a centre, in spreads, for an error of 1 of each round's mean: each error moves the centre, and later rounds take it back.
func settled(rounds int) float64 {
	squares, pull, averaged := 0., 0., 0.
	for i := rounds - 1; i >= 0; i-- {
		step, late := stepOf(i, rounds)
		switch {
		case i%2 == 0:
			squares += step * pull * step * pull
			pull *= 1 - step*evenInside
		case late:
			pull++
			averaged++
		}
	}
	return math.Sqrt(squares) / averaged
}

// centreError bounds the standard error of a centre after a number of rounds, in spreads. It counts the reports' noise and which clients are asked. Answers count as −1 and 1,
// which vary most.
func centreError(run *plan.Run, magnitude float64, rounds int) (float64, error) {
	noise, err := run.NoiseAt(magnitude, magnitude*magnitude)
	if err != nil {
		return 0, err
	}
	of := settled(rounds)
	// Rounds whose clients have answered before have the same clients' error once more. Every other round passes over the clients of rounds about spreads,
	// which may be half of all.
	ever := max(float64(run.Cohort), float64(run.Clients)/2)
	asked := max(of/math.Sqrt(float64(run.Cohort)), 1/(evenInside*math.Sqrt(ever)))
	return math.Hypot(noise/magnitude*of, asked), nil
}

// prepare decides whether rounds are spent on columns.
func (s *scaling) prepare(run *plan.Run) (p preparation, err error) {
	k := len(s.learnt)
	if k == 0 {
		return p, nil
	}
	p.magnitude = magnitude(run, k)
	p.rounds = max(columnsRounds, 2*int(columnsShare/2*float64(run.Affordable)))
	wrong, err := centreError(run, p.magnitude, p.rounds)
	if err != nil {
		return p, err
	}
	why := ""
	switch {
	case 2*p.rounds > run.Affordable:
		why = fmt.Sprintf("to learn centre and spread takes %d rounds, and the run has %d", p.rounds, run.Affordable)
	case wrong > mostError:
		why = fmt.Sprintf("the standard error of a centre would be up to about %s spreads, and at most %g is useful", roundUp(wrong), mostError)
	}
	about := "1 column"
	if k > 1 {
		about = fmt.Sprintf("%d columns", k)
	}
	if why != "" {
		p.rounds = 0
		p.text = fmt.Sprintf("numbers of %s count as spread evenly over their ranges: %s. Where you know mean and spread, say so as in age=17..90~40±15.", about, why)
		return p, nil
	}
	privacy := ", with the same privacy as the others"
	if run.Mechanism == baseline.None {
		privacy = ""
	}
	p.text = fmt.Sprintf("the first %d of %d rounds learn the centre and the spread of %s%s. A centre's standard error is up to about %s spreads.", p.rounds, run.Affordable, about, privacy, roundUp(wrong))
	return p, nil
}

// roundUp writes a number with two digits, rounded up.
func roundUp(v float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return fmt.Sprintf("%.2g", math.Ceil(v/unit)*unit)
}

// stages are gradients that change during a run.
type stages struct{ trainer.Gradients }
