package experiment

import (
	"fmt"
	"slices"

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

// Verdict says whether a claim of the paper, or of ours, holds in these rows.
type Verdict struct {
	Claim string
	Holds bool
	// Unsettled says why the claim cannot be settled: what the text does not say, and what each
	// reading gives. "" if it can. Holds means nothing then.
	Unsettled string
	Ours      string // our number with its unit and interval, short enough for a cell of a table
	Paper     string // the paper's number or words; "" for a claim that no paper makes
	Detail    string // the other numbers that it was decided by
}

// Validate returns a *fl.ParamError unless the columns have distinct names,
// every row fits them, every verdict has a claim and the figure, if there is
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
	}
	if r.Plot == nil {
		return nil
	}
	return r.Plot.Validate()
}
