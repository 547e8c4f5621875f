package experiment

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/fl"
)

// absent stands for a cell without a value in a printed table.
const absent = "–"

// Print writes the result for a reader: an aligned table with numbers to four
// significant digits, a line per verdict, and the notes. In columns whose names begin with
// epsilon or delta numbers are rounded up, because they may be guarantees. It returns a
// *fl.ParamError for an invalid result and the error of w.
func Print(w io.Writer, r *Result) error {
	if err := r.Validate(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	printLine(table, r.Columns)
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = printed(r.Columns[i], cell)
		}
		printLine(table, cells)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(r.Verdicts) > 0 {
		fmt.Fprintln(out)
	}
	for _, v := range r.Verdicts {
		fmt.Fprintf(out, "%-14s %s", v.outcome(r.Quick)+":", v.Claim)
		if numbers := v.decision(r.Quick).Numbers(); numbers != "" {
			fmt.Fprintf(out, " (%s)", numbers)
		}
		fmt.Fprintln(out)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "Note: %s\n", note)
	}
	return out.Flush()
}

// outcome says what was found about a claim. A quick run decides nothing.
func (v Verdict) outcome(quick bool) string {
	switch {
	case v.Unsettled != "":
		return "cannot be settled"
	case quick && v.Holds:
		return "quick run, yes"
	case quick:
		return "quick run, no"
	case v.Holds:
		return "holds"
	}
	return "does not hold"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// layout holds the characters that tabwriter would take for the end of a cell.
var layout = strings.NewReplacer("\t", " ", "\v", " ", "\f", " ", "\n", " ", "\r", " ")

func printLine(table *tabwriter.Writer, cells []string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(table, "\t")
		}
		fmt.Fprint(table, layout.Replace(cell))
	}
	fmt.Fprintln(table)
}

func printed(column string, cell any) string {
	switch v := cell.(type) {
	case nil:
		return absent
	case float64:
		if guarantee := strings.HasPrefix(column, "epsilon") || strings.HasPrefix(column, "delta"); guarantee && v > 0 && !math.IsInf(v, 1) {
			return fl.FormatUp(v, 4)
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	default:
		return fmt.Sprint(v)
	}
}
