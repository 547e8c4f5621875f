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
		printVerdicts(out, r)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "Note: %s\n", note)
	}
	return out.Flush()
}

// PrintVerdicts writes a line for each verdict.
func PrintVerdicts(w io.Writer, r *Result) error {
	out := bufio.NewWriter(w)
	printVerdicts(out, r)
	return out.Flush()
}

func printVerdicts(out io.Writer, r *Result) {
	for _, v := range r.Verdicts {
		d := v.decision(r.Quick)
		fmt.Fprintf(out, "%-4s %s", d.Outcome()+":", v.Claim)
		if numbers := d.Numbers(); numbers != "" {
			fmt.Fprintf(out, " (%s)", numbers)
		}
		fmt.Fprintln(out)
	}
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
