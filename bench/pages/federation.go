package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// federation has a line for each federation and a column for each features. The first line is what features know before any
// client takes part, and the last one the accuracy without privacy.
func federation(in []*experiment.Record) (string, error) {
	type line struct {
		trust, clients, budget string
		cells                  map[string]string
	}
	zero, bare := line{"–", "none", "–", map[string]string{}}, line{"everybody", "", "no privacy", map[string]string{}}
	var features []string
	var lines []*line
	for _, r := range in {
		for _, row := range r.Rows {
			clients, err := number(row, "clients")
			if err != nil {
				return "", err
			}
			name, at := fmt.Sprint(row["features"]), line{fmt.Sprint(row["trust"]), experiment.Grouped(clients), fmt.Sprint(row["budget"]), map[string]string{}}
			if !slices.Contains(features, name) {
				features = append(features, name)
			}
			found := slices.IndexFunc(lines, func(l *line) bool { return l.trust == at.trust && l.clients == at.clients && l.budget == at.budget })
			if found < 0 {
				found, lines = len(lines), append(lines, &at)
			}
			if row["accuracy"] == nil {
				lines[found].cells[name] = "refused"
				continue
			}
			if lines[found].cells[name], err = measured(row); err != nil {
				return "", err
			}
			for column, in := range map[string]line{"zero_shot": zero, "without_privacy": bare} {
				if row[column] == nil {
					continue
				}
				v, err := number(row, column)
				if err != nil {
					return "", err
				}
				in.cells[name] = max(in.cells[name], fmt.Sprintf("%.3f", v)) // of several records the largest
				if column == "without_privacy" {
					bare.clients = at.clients
				}
			}
		}
	}
	heads := []string{"who is trusted", "clients", "ε of all of a client's reports"}
	for _, name := range features {
		heads = append(heads, "`"+name+"`")
	}
	g := newGrid(heads...)
	for _, l := range slices.Concat([]*line{&zero}, lines, []*line{&bare}) {
		cells := []string{l.trust, l.clients, l.budget}
		for _, name := range features {
			cells = append(cells, cmp.Or(l.cells[name], "–"))
		}
		g.add(cells...)
	}
	return g.String(), nil
}

// publicFigures has a line for each features and a column for each kind of public pictures and budget.
func publicFigures(in []*experiment.Record) (string, error) {
	var order, heads []string
	cells := map[string]string{}
	for _, r := range in {
		public := "generated digits"
		if _, after, ok := strings.Cut(r.Command, "--data "); ok {
			public, _, _ = strings.Cut(after, " ")
		}
		for _, row := range r.Rows {
			if row["mechanism"] != "auto" {
				continue
			}
			central, err := number(row, "epsilon_central")
			if err != nil {
				return "", err
			}
			at, ok := asked(central, []float64{0.1, 0.25, 1})
			if !ok {
				continue
			}
			name, head := fmt.Sprint(row["features"]), fmt.Sprintf("%s, ε = %g", public, []float64{0.1, 0.25, 1}[at])
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
			if !slices.Contains(heads, head) {
				heads = append(heads, head)
			}
			if cells[name+head], err = measured(row); err != nil {
				return "", err
			}
		}
	}
	g := newGrid(append([]string{"features"}, heads...)...)
	for _, name := range order {
		line := []string{"`" + name + "`"}
		for _, head := range heads {
			line = append(line, cells[name+head])
		}
		g.add(line...)
	}
	return g.String(), nil
}

// siteFigures has a line for each method and who its ε holds against. It has a column for each number of sites, features, number of
// weights and budget.
func siteFigures(in []*experiment.Record) (string, error) {
	var methods, heads []string
	holds, cells, bare := map[string]string{}, map[string]string{}, map[string]string{}
	for _, r := range in {
		for _, row := range r.Rows {
			budget, err := number(row, "budget")
			if err != nil {
				return "", err
			}
			value, err := measured(row)
			if err != nil {
				return "", err
			}
			v, err := numbers(row, "sites", "dim")
			if err != nil {
				return "", err
			}
			at := fmt.Sprintf("%g sites, `%v`, %s weights", v[0], row["features"], experiment.Grouped(v[1]))
			if budget == 0 {
				bare[at] = value
				continue
			}
			method, head := fmt.Sprint(row["method"]), fmt.Sprintf("%s, ε = %g", at, budget)
			if !slices.Contains(methods, method) {
				methods = append(methods, method)
				holds[method] = fmt.Sprint(row["holds_against"])
			}
			if !slices.Contains(heads, head) {
				heads = append(heads, head)
			}
			cells[method+head] = value
		}
	}
	g := newGrid(append([]string{"method", "ε holds against"}, heads...)...)
	for _, method := range methods {
		line := []string{"`" + method + "`", holds[method]}
		for _, head := range heads {
			line = append(line, cmp.Or(cells[method+head], "–"))
		}
		g.add(line...)
	}
	last := []string{"no privacy", "nobody"}
	for _, head := range heads {
		at, _, _ := strings.Cut(head, ", ε = ")
		last = append(last, cmp.Or(bare[at], "–"))
	}
	g.add(last...)
	return g.String(), nil
}
