package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// Result is what an experiment found.
type Result struct {
	Columns  []string // distinct names; a unit goes into the name
	Rows     []Row
	Verdicts []Verdict
	Notes    []string       // what a reader must know to read the rows
	Plot     *figure.Figure // nil: no figure
	// Quick is true of a run at smaller settings than those that the claims are about.
	Quick bool
	// Seconds that the run took, with the seconds of interrupted runs that it went on from.
	Seconds float64
}

// Row has one cell per column: string, float64, int, int64, bool or, where there
// is no value, nil.
type Row []any

// Verdict says whether a claim of a paper, or of ours, holds in these rows.
type Verdict struct {
	Claim string
	// Section is where the paper makes the claim; "" for a claim that no paper makes.
	Section string
	// Quote is the paper's sentence about it, in at most ten of its words, or the numbers that it prints.
	Quote string
	// Criterion is what the numbers have to be for the claim to hold. Where the paper says "about" it has two ends.
	Criterion string
	Holds     bool // in every reading of the text
	// Readings says in how many readings of the text the claim holds, where the text leaves something open.
	Readings Share
	// Missing says which data of the paper are not there. What stands in for them settles nothing, whatever it
	// gives.
	Missing string
	Ours    string // our number with its unit and interval, short enough for a cell of a table
	Detail  string // the other numbers that it was decided by
	// Draws says for how many seeds the claim holds, each with data of its own. OverDraws sets it, and found.
	Draws Share

	found string // over draws that differ
}

// Share is how many of several have something in common.
type Share struct {
	Held int `json:"held"`
	Of   int `json:"of"`
}

// What is found about a claim beside yes and no.
const (
	CannotBeSettled  = "cannot be settled"
	DependsOnDraw    = "depends on the draw"
	DependsOnReading = "depends on the reading"
)

// outcome says what was found: yes, no, that the text or the data leave it open, or that seeds differ.
func (v Verdict) outcome() string {
	switch {
	case v.found != "":
		return v.found
	case v.Missing != "":
		return CannotBeSettled
	case v.Holds:
		return "yes"
	case v.Readings.Held > 0:
		return fmt.Sprintf("%s (%d of %d)", DependsOnReading, v.Readings.Held, v.Readings.Of)
	}
	return "no"
}

// OverSeeds returns the result of the first seed with verdicts over all. The results must be of one experiment.
func OverSeeds(all []*Result) (*Result, error) {
	var draws [][]Verdict
	for _, r := range all {
		draws = append(draws, r.Verdicts)
	}
	var err error
	all[0].Verdicts, err = OverDraws(all[0].Verdicts, draws)
	return all[0], err
}

// OverDraws returns verdicts with what is found by draws of the data: what every draw gives, and the verdict itself,
// is found, and else it depends on the draw. All have the same claims.
func OverDraws(verdicts []Verdict, draws [][]Verdict) ([]Verdict, error) {
	var out []Verdict
	for i, v := range verdicts {
		kind, same := kindOf(v.outcome()), true
		v.Draws = Share{Of: len(draws)}
		for _, d := range draws {
			if len(d) != len(verdicts) || d[i].Claim != v.Claim {
				return nil, fmt.Errorf("experiment: claims depend on the draw: %s", v.Claim)
			}
			if d[i].Holds {
				v.Draws.Held++
			}
			same = same && kindOf(d[i].outcome()) == kind
		}
		if !same {
			v.found = fmt.Sprintf("%s (%d of %d", DependsOnDraw, v.Draws.Held, v.Draws.Of)
			if v.Draws.Held == 0 { // draws differ in whether some readings hold
				v.found += " in every reading"
			}
			v.found += ")"
		}
		out = append(out, v)
	}
	return out, nil
}

// kindOf is an outcome without its numbers.
func kindOf(outcome string) string {
	kind, _, _ := strings.Cut(outcome, " (")
	return kind
}

// maxQuote is how many words of a sentence are quoted.
const maxQuote = 10

// Validate returns a *fl.ParamError unless the columns have distinct names,
// every row fits them, every verdict has a claim of its own, with a quote, a criterion and our number
// if it is a paper's, and the figure, if there is
// one, is valid. O(rows × columns + points).
func (r *Result) Validate() error {
	if err := r.validate(); err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	return nil
}

func (r *Result) validate() error {
	if len(r.Columns) == 0 {
		return fl.Invalid("Columns", "nothing", "must have at least one")
	}
	for i, name := range r.Columns {
		if name == "" || slices.Contains(r.Columns[:i], name) {
			return fl.Invalid(fmt.Sprintf("Columns[%d]", i), name, "must be distinct and not empty")
		}
	}
	for i, row := range r.Rows {
		if len(row) != len(r.Columns) {
			return fl.Invalid(fmt.Sprintf("Rows[%d]", i), fmt.Sprintf("%d cells", len(row)), "must have %d, one per column", len(r.Columns))
		}
		for j, cell := range row {
			switch cell.(type) {
			case nil, string, float64, int, int64, bool:
			default:
				return fl.Invalid(fmt.Sprintf("Rows[%d][%s]", i, r.Columns[j]), fmt.Sprintf("%T", cell), "must be string, float64, int, int64, bool or nil")
			}
		}
	}
	for i, v := range r.Verdicts {
		if v.Claim == "" {
			return fl.Invalid(fmt.Sprintf("Verdicts[%d].Claim", i), v.Claim, "must not be empty")
		}
		if slices.ContainsFunc(r.Verdicts[:i], func(other Verdict) bool { return other.Claim == v.Claim }) {
			return fl.Invalid(fmt.Sprintf("Verdicts[%d].Claim", i), v.Claim, "must be distinct")
		}
		if v.Section == "" {
			continue
		}
		if words := len(strings.Fields(v.Quote)); words == 0 || words > maxQuote {
			return fl.Invalid(fmt.Sprintf("Verdicts[%d].Quote", i), v.Quote, "must have 1 to %d words", maxQuote)
		}
		if v.Criterion == "" || v.Ours == "" {
			return fl.Invalid(fmt.Sprintf("Verdicts[%d]", i), v.Claim, "must have a criterion and our number")
		}
	}
	if r.Plot == nil {
		return nil
	}
	return paint.Validate(r.Plot)
}
