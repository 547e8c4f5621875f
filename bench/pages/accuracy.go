package pages

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// asked returns which of the ε that a run may have been asked for is the one of a row: the plan
// stays below it, by little.
func asked(epsilon float64, among []float64) (at int, ok bool) {
	at = slices.IndexFunc(among, func(a float64) bool { return epsilon <= a*(1+1e-9) && epsilon > 0.9*a })
	return at, at >= 0
}

// pivot is a table of accuracies: a line for each name and a column for each ε.
type pivot struct {
	names    []string // in the order of the lines
	epsilons []float64
	cells    map[string][]string
	bytes    map[string][]float64
}

func newPivot(epsilons ...float64) *pivot {
	return &pivot{epsilons: epsilons, cells: map[string][]string{}, bytes: map[string][]float64{}}
}

// add places a row under its ε, and under all where it has none.
func (p *pivot) add(name string, epsilon any, row map[string]any, promise string) error {
	text, err := measured(row)
	if err != nil {
		return err
	}
	if p.cells[name] == nil {
		p.names = append(p.names, name)
		p.cells[name] = slices.Repeat([]string{"–"}, len(p.epsilons))
	}
	bytes, err := number(row, "bytes_per_report")
	if err != nil {
		return err
	}
	p.bytes[name] = append(p.bytes[name], math.Round(bytes))
	for i := range p.epsilons {
		if v, private := epsilon.(float64); private {
			if at, ok := asked(v, p.epsilons); !ok || at != i {
				continue
			}
		}
		p.cells[name][i] = text + promise
	}
	return nil
}

// span writes the least and the largest of some numbers, or nothing for none.
func span(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	least, largest := slices.Min(values), slices.Max(values)
	if least < largest {
		return fmt.Sprintf("%g to %g", least, largest)
	}
	return fmt.Sprint(largest)
}

func (p *pivot) table(corner string, names map[string]string) string {
	head := []string{corner}
	for _, e := range p.epsilons {
		head = append(head, fmt.Sprintf("ε = %g", e))
	}
	g := newGrid(append(head, "bytes per report")...)
	for _, name := range p.names {
		shown := "`" + name + "`"
		if n, ok := names[name]; ok {
			shown = n
		} else if strings.Contains(name, " ") { // no mechanism
			shown = name
		}
		g.add(append(append([]string{shown}, p.cells[name]...), span(p.bytes[name]))...)
	}
	return g.String()
}

// byCentral fills a pivot with the runs for a central ε.
func byCentral(p *pivot, r *experiment.Record, mechanisms []string) error {
	for _, name := range mechanisms {
		for _, row := range r.Rows {
			if row["mechanism"] != name {
				continue
			}
			promise, err := againstEverybody(row)
			if err != nil {
				return err
			}
			if err := p.add(name, row["epsilon_central"], row, promise); err != nil {
				return err
			}
		}
	}
	return nil
}

// againstEverybody is the ε of one report and of all of a client's, in brackets, where reports have
// one.
func againstEverybody(row map[string]any) (string, error) {
	local, ok := row["epsilon_local"].(float64)
	if !ok || row["epsilon_central"] == nil {
		return "", nil
	}
	all, err := number(row, "epsilon_local_all")
	return fmt.Sprintf(" (%s, %s)", fl.FormatUp(local, 3), fl.FormatUp(all, 4)), err
}

// longNames say what the mechanisms of a table are.
var longNames = map[string]string{"auto": "planned (`auto`)", "gaussian-shares": "two servers (`gaussian-shares`)", "gaussian-shares-honest": "two servers, and nine clients of ten honest (`gaussian-shares`)", "central": "Gaussian noise of a trusted server", "none": "no privacy"}

func accuracyByCentral(in []*experiment.Record) (string, error) {
	p := newPivot(0.1, 0.25, 0.6, 1, 2, 4)
	err := byCentral(p, in[0], []string{"auto", "sumdp", "gaussian-shares", "gaussian-shares-honest", "central", "none"})
	p.besideThePlan(in[0], "")
	return p.table("central ε", longNames), err
}

// besideThePlan adds lines, with names that begin like prefix, of what stands beside the planner's runs:
// the accuracy of the features without any client, and what parties find out.
func (p *pivot) besideThePlan(r *experiment.Record, prefix string) {
	for _, row := range r.Rows {
		epsilon, private := row["epsilon_central"].(float64)
		at, ok := asked(epsilon, p.epsilons)
		if row["mechanism"] != "auto" || !private || !ok {
			continue
		}
		for _, l := range []besideLine{zeroShot, foundOut, labelsFound} {
			text := l.cell(row)
			if text == "" {
				continue
			}
			name := prefix + l.name
			if p.cells[name] == nil {
				p.names = append(p.names, name)
				p.cells[name] = slices.Repeat([]string{"–"}, len(p.epsilons))
			}
			p.cells[name][at] = text
		}
	}
}

// accuracyByLocal has the central ε of all reports in brackets.
func accuracyByLocal(in []*experiment.Record) (string, error) {
	var epsilons []float64
	for _, row := range in[0].Rows {
		if v, ok := row["epsilon_local"].(float64); ok && !slices.Contains(epsilons, v) {
			epsilons = append(epsilons, v)
		}
	}
	slices.Sort(epsilons)
	p := newPivot(epsilons...)
	for _, row := range in[0].Rows {
		promise := ""
		if central, ok := row["epsilon_central"].(float64); ok {
			promise = fmt.Sprintf(" (%s)", fl.FormatUp(central, 3))
		}
		if err := p.add(fmt.Sprint(row["mechanism"]), row["epsilon_local"], row, promise); err != nil {
			return "", err
		}
	}
	return p.table("ε of one report", longNames), nil
}

// accuracyByDropout has lines for each share of clients that drops out.
func accuracyByDropout(in []*experiment.Record) (string, error) {
	p, names := newPivot(0.25, 1), map[string]string{}
	for _, r := range in {
		share := ""
		for _, row := range r.Rows {
			v, err := numbers(row, "dropout", "quorum")
			if err != nil {
				return "", err
			}
			share = fmt.Sprintf("%g %%", 100*v[0])
			name := fmt.Sprintf("%s: %s", share, longNames[fmt.Sprint(row["mechanism"])])
			if row["mechanism"] == "auto" {
				name += fmt.Sprintf(", at least %.0f reports", v[1])
			}
			names[name] = name
			promise, err := againstEverybody(row)
			if err != nil {
				return "", err
			}
			if err := p.add(name, row["epsilon_central"], row, promise); err != nil {
				return "", err
			}
		}
		p.besideThePlan(r, share+": ")
	}
	return p.table("drop out", names), nil
}
