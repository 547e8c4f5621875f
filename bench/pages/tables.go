package pages

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// tables make the body of a table from results.
var tables = map[string]func([]*experiment.Record) (string, error){
	"verdicts":          verdicts,
	"claims":            claims,
	"own":               own,
	"tally":             tally,
	"durations":         durations,
	"accuracy-central":  accuracyByCentral,
	"accuracy-local":    accuracyByLocal,
	"accuracy-features": accuracyByFeatures,
	"flower":            flower,
	"peers":             peers,
	"first-steps":       firstSteps,
	"tabular":           tabular,
	"accuracy-dropout":  accuracyByDropout,
	"constants":         constants,
	"attack":            attack,
	"coverage":          coverage,
	"bars":              bars,
	"curve":             curve,
	"federation":        federation,
	"choices":           choices,
	"sites":             siteFigures,
	"liars":             liars,
	"public-figures":    publicFigures,
	"scattering":        scattering,
	"predictions":       predictions,
	"speed-server":      speedOfServer,
	"speed-client":      speedOfClient,
	"instructions":      instructions,
	"parts":             parts,
	"serving":           serving,
	"shards":            shards,
	"tokens":            tokens,
	"scale":             scaled,
	"population":        population,
	"extrapolated":      extrapolated,
	"sizing":            sizing,
	"sums":              sums,
	"shares":            shares,
	"dense":             dense,
	"pretrain":          pretrained,
	"contest":           contest,
	"vector-sums":       vectorSums,
	"reductions":        reductions,
}

// grid is a table under construction.
type grid struct{ lines []string }

func newGrid(head ...string) *grid {
	g := &grid{}
	g.add(head...)
	g.lines = append(g.lines, "|"+strings.Repeat("---|", len(head)))
	return g
}

func (g *grid) add(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	g.lines = append(g.lines, "| "+strings.Join(cells, " | ")+" |")
}

func (g *grid) String() string { return strings.Join(g.lines, "\n") + "\n" }

// number returns a cell that must be a number.
func number(row map[string]any, column string) (float64, error) {
	v, ok := row[column].(float64)
	if !ok {
		return 0, fmt.Errorf("column %s is %v in a row, want a number", column, row[column])
	}
	return v, nil
}

// numbers returns several cells of a row.
func numbers(row map[string]any, columns ...string) ([]float64, error) {
	var out []float64
	for _, c := range columns {
		v, err := number(row, c)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// measured writes an accuracy with half of its interval, which is rounded up.
func measured(row map[string]any) (string, error) {
	v, err := numbers(row, "accuracy", "low", "high", "repeats")
	if err != nil {
		return "", err
	}
	if v[3] < 2 {
		return fmt.Sprintf("%.3f", v[0]), nil
	}
	return fmt.Sprintf("%.3f ± %.3f", v[0], max(0, math.Ceil(1000*(v[2]-v[1])/2-1e-6)/1000)), nil
}

// constants lists the values of each constant of the planner beside one another.
func constants(in []*experiment.Record) (string, error) {
	g := newGrid("constant", "accuracy with its values, the planned one in bold")
	var names []string
	values := map[string][]string{}
	for _, row := range in[0].Rows {
		name := fmt.Sprint(row["constant"])
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		accuracy, err := measured(row)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%v: %s", row["value"], accuracy)
		if row["planned"] == true {
			text = "**" + text + "**"
		}
		values[name] = append(values[name], text)
	}
	for _, name := range names {
		g.add(name, strings.Join(values[name], "; "))
	}
	return g.String(), nil
}

// curve lists accuracies by planned noise.
func curve(in []*experiment.Record) (string, error) {
	g := newGrid("central ε", "planned noise", "accuracy")
	for _, row := range in[0].Rows {
		if row["planned_noise"] == nil {
			continue
		}
		v, err := numbers(row, "epsilon_central", "planned_noise")
		if err != nil {
			return "", err
		}
		accuracy, err := measured(row)
		if err != nil {
			return "", err
		}
		g.add(fl.FormatUp(v[0], 3), fmt.Sprintf("%.5f", v[1]), accuracy)
	}
	return g.String(), nil
}

// attack lists how many labels are found.
func attack(in []*experiment.Record) (string, error) {
	g := newGrid("reports of a client", "their ε together", "label found, reports linked", "label found, reports shuffled")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "reports", "epsilon_of_all", "label_found_linked", "linked_low", "linked_high", "label_found_shuffled", "shuffled_low", "shuffled_high")
		if err != nil {
			return "", err
		}
		share := func(i int) string { return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*v[i], 100*v[i+1], 100*v[i+2]) }
		g.add(fmt.Sprint(v[0]), fmt.Sprint(v[1]), share(2), share(5))
	}
	return g.String(), nil
}

// worst returns, by mechanism and number of reports, the least value of a column and the
// largest, over all points.
func worst(r *experiment.Record, column string) (mechanisms []string, reports []float64, least, largest map[string]float64, err error) {
	least, largest = map[string]float64{}, map[string]float64{}
	for _, row := range r.Rows {
		v, err := numbers(row, column, "reports")
		if err != nil {
			return nil, nil, nil, nil, err
		}
		name := fmt.Sprint(row["mechanism"])
		if !slices.Contains(mechanisms, name) {
			mechanisms = append(mechanisms, name)
		}
		if !slices.Contains(reports, v[1]) {
			reports = append(reports, v[1])
		}
		at := key(name, v[1])
		if old, ok := least[at]; !ok || v[0] < old {
			least[at] = v[0]
		}
		largest[at] = max(largest[at], v[0])
	}
	return mechanisms, reports, least, largest, nil
}

func key(name string, n float64) string { return fmt.Sprintf("%s %g", name, n) }

// coverage lists the least covered shares, rounded down.
func coverage(in []*experiment.Record) (string, error) {
	mechanisms, reports, all, _, err := worst(in[0], "covered")
	if err != nil {
		return "", err
	}
	_, _, held, _, err := worst(in[0], "covered_held")
	if err != nil {
		return "", err
	}
	return byReports(mechanisms, reports, func(at string) string {
		return fmt.Sprintf("%.1f (%.1f)", math.Floor(1000*all[at])/10, math.Floor(1000*held[at])/10)
	}), nil
}

// bars lists how long error bars are, as shares of how long they would have to be.
func bars(in []*experiment.Record) (string, error) {
	mechanisms, reports, least, largest, err := worst(in[0], "bar_over_error")
	return byReports(mechanisms, reports, func(at string) string {
		return fmt.Sprintf("%.2f to %.2f", least[at], largest[at])
	}), err
}

// byReports is a table with a column for each number of reports.
func byReports(mechanisms []string, reports []float64, cell func(key string) string) string {
	head := []string{"reports"}
	for _, n := range reports {
		head = append(head, fmt.Sprintf("%.0f", n))
	}
	g := newGrid(head...)
	for _, name := range mechanisms {
		cells := []string{"`" + name + "`"}
		for _, n := range reports {
			cells = append(cells, cell(key(name, n)))
		}
		g.add(cells...)
	}
	return g.String()
}

// sums lists both forms of a private sum: accuracies of the first result, costs of the second.
func sums(in []*experiment.Record) (string, error) {
	if len(in) != 2 {
		return "", fmt.Errorf("the table of sums needs two results, got %d", len(in))
	}
	g := newGrid("mechanism", "holds against", "accuracy", "bytes per report", "ms per report")
	for _, row := range in[1].Rows {
		v, err := numbers(row, "bytes", "nanoseconds")
		if err != nil {
			return "", err
		}
		trained := slices.IndexFunc(in[0].Rows, func(r map[string]any) bool { return r["mechanism"] == row["mechanism"] })
		if trained < 0 {
			return "", fmt.Errorf("%s has no row for %v", in[0].Name, row["mechanism"])
		}
		accuracy, err := measured(in[0].Rows[trained])
		if err != nil {
			return "", err
		}
		g.add(fmt.Sprintf("`%v`", row["mechanism"]), fmt.Sprint(row["against"]), accuracy, fmt.Sprintf("%.0f", v[0]), fmt.Sprintf("%.2f", v[1]/1e6))
	}
	return g.String(), nil
}

// shares lists what sums with Gaussian noise take.
func shares(in []*experiment.Record) (string, error) {
	g := newGrid("mechanism", "coordinates", "bytes to the first server", "to the second", "encode, ms", "check of a proof, ms: second server", "first", "add, ms: first server", "second", "noise of a server, ms", "decode, ms")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "dim", "first_bytes", "second_bytes", "encode_ms", "prepare_ms", "check_ms", "add_first_ms", "add_second_ms", "release_ms", "combine_ms")
		if err != nil {
			return "", err
		}
		name := fmt.Sprintf("`%v`", row["mechanism"])
		if proof := row["proof"]; proof != "" {
			name += fmt.Sprintf(" with `proof=%v`", proof)
		}
		cells := []string{name}
		for i, x := range v {
			switch {
			case x == 0: // a site has no second server, and most shares no proof
				cells = append(cells, "")
			case i < 3:
				cells = append(cells, fmt.Sprintf("%.0f", x))
			default:
				cells = append(cells, fmt.Sprintf("%.3g", x))
			}
		}
		g.add(cells...)
	}
	return g.String(), nil
}

// guesses is the table that follows from the definition of ε alone.
const guesses = "guesses"

// guessTable lists what one ε means.
func guessTable() string {
	g := newGrid("ε", "odds change at most by a factor of", "right guesses, at most")
	for _, epsilon := range []float64{0.1, 0.5, 1, 2, 4.5, 8} {
		g.add(fmt.Sprint(epsilon), fl.FormatUp(math.Exp(epsilon), 3), fmt.Sprintf("%.2f %%", math.Ceil(1e4/(1+math.Exp(-epsilon)))/100))
	}
	return g.String()
}
