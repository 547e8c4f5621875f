package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/speed/probe"
)

// speedOfServer lists nanoseconds per report by size and dimension.
func speedOfServer(in []*experiment.Record) (string, error) {
	var dims []float64
	var names []string
	cells := map[string]string{}
	for _, row := range in[0].Rows {
		if row["operation"] != probe.Decode {
			continue
		}
		v, err := numbers(row, "dim", "sparsity", "epsilon", "median")
		if err != nil {
			return "", err
		}
		name := fmt.Sprintf("`%v`, s = %g, ε = %g", row["hash"], v[1], v[2])
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !slices.Contains(dims, v[0]) {
			dims = append(dims, v[0])
		}
		cells[key(name, v[0])] = fmt.Sprintf("%.0f", v[3])
	}
	head := []string{"hash family"}
	for _, d := range dims {
		head = append(head, fmt.Sprintf("d = %.0f", d))
	}
	g := newGrid(head...)
	for _, name := range names {
		line := []string{name}
		for _, d := range dims {
			line = append(line, cells[key(name, d)])
		}
		g.add(line...)
	}
	return g.String(), nil
}

// speedOfClient lists microseconds per report.
func speedOfClient(in []*experiment.Record) (string, error) {
	g := newGrid("operation", "microseconds")
	for _, row := range in[0].Rows {
		what := fmt.Sprint(row["operation"])
		if what != probe.Encode && what != probe.Ternary {
			continue
		}
		v, err := numbers(row, "dim", "sparsity", "median")
		if err != nil {
			return "", err
		}
		g.add(fmt.Sprintf("%s, d = %.0f, s = %.0f", strings.TrimPrefix(what, "client: "), v[0], v[1]), fmt.Sprintf("%.1f", v[2]))
	}
	return g.String(), nil
}

// dense lists what a dense report costs and is worth.
func dense(in []*experiment.Record) (string, error) {
	g := newGrid("ε", "candidates", "bytes", "error × n", "over PrivUnitG's", "encode, µs", "add, ns per coordinate")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "epsilon", "candidates", "bytes", "error", "ratio", "encode_microseconds", "decode_nanoseconds")
		if err != nil {
			return "", err
		}
		g.add(fmt.Sprintf("%g", v[0]), fmt.Sprintf("%.0f", v[1]), fmt.Sprintf("%.0f", v[2]), fmt.Sprintf("%.4g", v[3]), fmt.Sprintf("%.3f", v[4]), fmt.Sprintf("%.0f", v[5]), fmt.Sprintf("%.3f", v[6]))
	}
	return g.String(), nil
}

// instructions lists instructions per report, beside the base's.
func instructions(in []*experiment.Record) (string, error) {
	g := newGrid("operation", "instructions", "base", "ratio")
	for _, row := range in[0].Rows {
		v, err := numbers(row, "dim", "sparsity", "epsilon", "instructions", "base", "ratio")
		if err != nil {
			return "", err
		}
		g.add(fmt.Sprintf("%v, d = %.0f, s = %g, ε = %g", row["operation"], v[0], v[1], v[2]), fmt.Sprintf("%.0f", v[3]), fmt.Sprintf("%.0f", v[4]), fmt.Sprintf("%.2f", v[5]))
	}
	return g.String(), nil
}

// least is the size in megabytes from which on a part has a line of its own.
const least = 0.25

// parts lists the megabytes of the binary by module.
func parts(in []*experiment.Record) (string, error) {
	g := newGrid("module", "MB", "code", "data", "tables of functions")
	var small [4]float64
	others := 0
	for _, row := range in[0].Rows {
		v, err := numbers(row, "megabytes", "code", "data", "tables")
		if err != nil {
			return "", err
		}
		if v[0] < least {
			others++
			for i := range small {
				small[i] += v[i]
			}
			continue
		}
		g.add(fmt.Sprint(row["part"]), fmt.Sprintf("%.1f", v[0]), fmt.Sprintf("%.1f", v[1]), fmt.Sprintf("%.1f", v[2]), fmt.Sprintf("%.1f", v[3]))
	}
	g.add(fmt.Sprintf("%d others", others), fmt.Sprintf("%.1f", small[0]), fmt.Sprintf("%.1f", small[1]), fmt.Sprintf("%.1f", small[2]), fmt.Sprintf("%.1f", small[3]))
	return g.String(), nil
}
