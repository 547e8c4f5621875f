package pages

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// named makes curves of a column, all of one kind.
func named(column string, k kind) func(map[string]any) line {
	return func(row map[string]any) line { return line{name: fmt.Sprint(row[column]), kind: k} }
}

// forms are the pictures that a page can ask for.
var forms = map[string]form{
	"amplification": {
		about: "Local ε over central ε after shuffling, bound by bound. A larger ratio is a better bound",
		x:     "epsilon", logX: true, logY: true, xLabel: "local ε of one report", ys: []axis{{"ratio", "local over central ε"}},
		title: func(row map[string]any) string {
			return fmt.Sprintf("s = %v entries, n = %.0f reports", row["sparsity"], row["reports"])
		},
		curves: func(row map[string]any) line {
			k := unproved
			if row["status"] == "proved" {
				k = proved
			}
			return line{name: fmt.Sprintf("%v (%v)", row["bound"], row["status"]), kind: k}
		},
	},
	"rates": {
		about: "Exact collision rates of CoCo against the number of slots",
		x:     "slots", xLabel: "number of slots, t", ys: []axis{{"true", "collision probability"}},
		curves: func(map[string]any) line { return line{name: "true, P_t", kind: proved} },
		also: []also{
			{"opposite", func(map[string]any) line { return line{name: "opposite, P_o", kind: proved} }},
			{"false", func(map[string]any) line { return line{name: "false, P_f", kind: proved} }},
		},
	},
	"slots": {
		about: "Exact squared error of one report against the number of slots, for means (Minus), supports (Plus) and items",
		x:     "slots", xLabel: "number of slots, t", logY: true, ys: []axis{{"mse", "squared error"}},
		title:  func(row map[string]any) string { return fmt.Sprintf("%v error", row["error"]) },
		curves: named("mechanism", proved),
		keep: func(row map[string]any) bool { // every third number of slots is enough for a smooth curve
			t, ok := row["slots"].(float64)
			return ok && int(t)%6 == 0
		},
	},
	"errors": {
		about: "Errors of simulated mechanisms against ε, natural logarithms, for 4 and 32 keys a client",
		x:     "epsilon", logX: true, xLabel: "local ε of one report", ys: []axis{{"log_error", "ln of the error"}}, low: "low", high: "high",
		title: func(row map[string]any) string {
			return fmt.Sprintf("n = %.0f, d = %v, s = %v", row["clients"], row["dim"], row["sparsity"])
		},
		// The curves of 8 and 16 keys are between them.
		keep: func(row map[string]any) bool { return row["sparsity"] == 4. || row["sparsity"] == 32. },
		curves: func(row map[string]any) line {
			name := fmt.Sprint(row["mechanism"])
			switch of, _, more := strings.Cut(name, ", "); {
			case name == "minimax lower bound":
				return line{name: name + " (proved)", kind: proved}
			case strings.HasPrefix(name, "0 for"):
				return line{name: name, kind: unproved}
			case more:
				return line{name: name, kind: reading, of: of}
			}
			return line{name: name, kind: simulated}
		},
	},
	"allocations": {
		about: "Coefficients g and h of PCKV's squared error of a mean against ε, by the formulas",
		x:     "epsilon", xLabel: "ε of a report", logY: true, ys: []axis{{"g", "g"}, {"h", "h"}},
		curves: named("allocation", proved),
	},
	"pckv": {
		about: "Errors of simulated mechanisms for key-value pairs, beside the theory where there is one",
		x:     "epsilon", xLabel: "ε", logY: true, ys: []axis{{"value", "mean squared error"}}, low: "low", high: "high",
		title:  pairs,
		curves: named("mechanism", simulated),
		also:   []also{{"theory", theoryOf}},
		// The paper has the most frequent keys of the Gaussian law alone.
		keep: func(row map[string]any) bool { return row["data"] != "uniform" || row["scope"] != "top 20" },
	},
	"pckv-keys": {
		about: "Errors of simulated mechanisms for key-value pairs against the number of keys, beside the theory where there is one",
		x:     "dim", xLabel: "keys, d", logX: true, logY: true, ys: []axis{{"value", "mean squared error"}}, low: "low", high: "high",
		title:  func(row map[string]any) string { return fmt.Sprintf("%s, ε = %v", pairs(row), row["epsilon"]) },
		curves: named("mechanism", simulated),
		also:   []also{{"theory", theoryOf}},
	},
	"pckv-precision": {
		about: "Share of the most frequent keys that are found against the number of keys, in simulations",
		x:     "dim", xLabel: "keys, d", logX: true, ys: []axis{{"value", "precision"}}, low: "low", high: "high", yRange: [2]float64{0, 1},
		title:  func(row map[string]any) string { return fmt.Sprintf("%v, ε = %v", row["scope"], row["epsilon"]) },
		curves: named("mechanism", simulated),
	},
	"sums-clients": sumsAgainst("clients", "clients, n", func(row map[string]any) string { return fmt.Sprintf("ε = %v", row["epsilon"]) }, nil),
	"sums-bound":   sumsAgainst("bound", "bound U of an input", nil, nil),
	"sums-skew": sumsAgainst("data", "standard deviation of the data", nil, func(row map[string]any) (float64, bool) {
		_, text, _ := strings.Cut(fmt.Sprint(row["data"]), "σ=")
		text, _, _ = strings.Cut(text, ",")
		x, err := strconv.ParseFloat(text, 64)
		return x, err == nil
	}),
	"demands": {
		about:    "Largest error of a mean or a histogram for clients with different demands, 95 % quantile in simulations, a series for each reading of the text, with the paper's numbers and the least of the readings' proved lower bounds",
		category: "mechanism", logY: true, ys: []axis{{"error", "largest error"}}, low: "error_low", high: "error_high",
		title: func(row map[string]any) string { data, _ := readingOf(row); return data },
		curves: func(row map[string]any) line {
			_, of := readingOf(row)
			return line{name: of, kind: simulated}
		},
		also: []also{
			{"paper_error", func(map[string]any) line { return line{name: "the paper's, its own data", kind: printed} }},
			{"lower_bound", func(map[string]any) line {
				return line{name: "lower bound for the worst data (proved)", kind: proved}
			}},
		},
		keep: func(row map[string]any) bool { return row["measure"] == "95 % quantile" },
	},
	"federation": {
		about: "Test accuracy against the ε of all reports of a client: hushgrad, by whom clients trust, and Gaussian noise at each client",
		x:     "budget", xLabel: "ε of all of a client's reports", logX: true, ys: []axis{{"accuracy", "test accuracy"}}, low: "low", high: "high",
		curves: func(row map[string]any) line {
			return line{name: map[any]string{"nobody": "hushgrad, nobody is trusted", "shuffler": "hushgrad, a shuffler is trusted", "own-site": "Gaussian noise at each client, simulated"}[row["trust"]], kind: simulated}
		},
		levels: []also{
			{"without_privacy", func(map[string]any) line { return line{name: "no privacy", kind: unproved} }},
			{"zero_shot", func(map[string]any) line { return line{name: "before any client takes part", kind: unproved} }},
		},
	},
	"liars": {
		about: "Test accuracy against the share of clients that lie",
		x:     "share", xLabel: "share of clients that lie", ys: []axis{{"accuracy", "test accuracy"}}, yRange: [2]float64{0, 1}, low: "low", high: "high",
		title: func(row map[string]any) string { return fmt.Sprintf("attack: %v", row["attack"]) },
		curves: func(row map[string]any) line {
			return line{name: fmt.Sprintf("%v, %v:%v@%v", row["mechanism"], row["trust"], row["clients"], row["budget"]), kind: simulated}
		},
		keep: func(row map[string]any) bool { return row["trust"] != "none" },
	},
}

// pairs says what a panel of key-value pairs is about.
func pairs(row map[string]any) string {
	return fmt.Sprintf("%v, %v, %v", row["data"], row["quantity"], row["scope"])
}

// readingOf splits the data of a row into what they are and how the text is read.
func readingOf(row map[string]any) (data, reading string) {
	data = fmt.Sprint(row["data"])
	at := strings.LastIndex(data, ", ")
	if at < 0 || strings.HasPrefix(data[at:], ", k = ") {
		return data, "simulated"
	}
	return data[:at], "simulated, " + data[at+2:]
}

// theoryOf is the line of a mechanism's theorem.
func theoryOf(row map[string]any) line {
	return line{name: fmt.Sprintf("%v, theory", row["mechanism"]), kind: proved, of: fmt.Sprint(row["mechanism"])}
}

// sumsAgainst is a figure of sums of integers.
func sumsAgainst(x, label string, title func(map[string]any) string, at func(map[string]any) (float64, bool)) form {
	f := form{
		about: "Absolute error of a sum of integers in simulations, against the " + label,
		x:     x, at: at, xLabel: label, logX: true, logY: true, ys: []axis{{"error", "absolute error"}}, low: "error_low", high: "error_high",
		curves: named("mechanism", simulated), title: title,
	}
	return f
}

// picture returns the link to a picture of results, and keeps the picture for its file. Words with a = are conditions, and others files.
func (m *maker) picture(name, formName string, words []string) (string, error) {
	f, ok := forms[formName]
	if !ok {
		return "", fmt.Errorf("no picture is called %q", formName)
	}
	var conditions []string
	var all experiment.Record // their rows alone
	for _, word := range words {
		if strings.Contains(word, "=") {
			conditions = append(conditions, word)
			continue
		}
		r, err := m.record(word)
		if err != nil {
			return "", err
		}
		all.Rows = append(all.Rows, r.Rows...)
	}
	fig, text, err := f.picture(&all, conditions)
	if err != nil {
		return "", fmt.Errorf("picture %s: %w", name, err)
	}
	if m.pictures[name+".svg"], err = svg(fig); err != nil {
		return "", fmt.Errorf("picture %s: %w", name, err)
	}
	m.figures[name] = fig
	return fmt.Sprintf("![%s](%s)\n", text, path.Join(filepath.ToSlash(m.beside), name+".svg")), nil
}
