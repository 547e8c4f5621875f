package pages

import (
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/bound"
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
		p.cells[name] = make([]string, len(p.epsilons))
		for i := range p.epsilons {
			p.cells[name][i] = "–"
		}
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
		}
		bytes := fmt.Sprint(slices.Max(p.bytes[name]))
		if least := slices.Min(p.bytes[name]); least < slices.Max(p.bytes[name]) {
			bytes = fmt.Sprintf("%g to %s", least, bytes)
		}
		g.add(append(append([]string{shown}, p.cells[name]...), bytes)...)
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
	return fmt.Sprintf(" (%s, %s)", bound.Above(local, 3), bound.Above(all, 4)), err
}

// longNames are those of the README.
var longNames = map[string]string{"auto": "planned (`auto`)", "central": "Gaussian noise of a trusted server", "none": "no privacy"}

// accuracyInShort is the table of the README.
func accuracyInShort(in []*experiment.Record) (string, error) {
	p := newPivot(0.1, 0.25, 1)
	err := byCentral(p, in[0], []string{"auto", "central", "none"})
	return p.table("", longNames), err
}

func accuracyByCentral(in []*experiment.Record) (string, error) {
	p := newPivot(0.1, 0.25, 0.6, 1, 2, 4)
	err := byCentral(p, in[0], []string{"auto", "sumdp", "central", "none"})
	return p.table("central ε", longNames), err
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
			promise = fmt.Sprintf(" (%s)", bound.Above(central, 3))
		}
		if err := p.add(fmt.Sprint(row["mechanism"]), row["epsilon_local"], row, promise); err != nil {
			return "", err
		}
	}
	return p.table("ε of one report", longNames), nil
}

// accuracyByFeatures has a line for each features and mechanism.
func accuracyByFeatures(in []*experiment.Record) (string, error) {
	p, names := newPivot(0.1, 0.25, 1), map[string]string{}
	for _, r := range in {
		for _, row := range r.Rows {
			promise, err := againstEverybody(row)
			if err != nil {
				return "", err
			}
			features, mechanism := fmt.Sprint(row["features"]), fmt.Sprint(row["mechanism"])
			name := features + " " + mechanism
			names[name] = fmt.Sprintf("`%s`, %s", features, longNames[mechanism])
			if err := p.add(name, row["epsilon_central"], row, promise); err != nil {
				return "", err
			}
		}
	}
	return p.table("central ε", names), nil
}

// accuracyByClients has a line for each number of clients.
func accuracyByClients(in []*experiment.Record) (string, error) {
	p, names := newPivot(0.25, 1), map[string]string{}
	for _, r := range in {
		for _, row := range r.Rows {
			clients, err := number(row, "clients")
			if err != nil || row["mechanism"] != "auto" {
				continue
			}
			if _, ok := asked(row["epsilon_central"].(float64), p.epsilons); !ok {
				continue
			}
			name := fmt.Sprintf("%.0f clients", clients)
			names[name] = name
			if err := p.add(name, row["epsilon_central"], row, ""); err != nil {
				return "", err
			}
		}
	}
	return p.table("central ε", names), nil
}
