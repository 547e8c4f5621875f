package pages

import (
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// publicMaterial says what a network behind features was trained on.
var publicMaterial = map[any]string{"none": "no public pretraining", "glyphs": "public glyphs"}

// byFeatures is a table with a column for each kind of features.
type byFeatures struct {
	rows  []map[string]any
	names []string // of the features, those without public pretraining first
	grid  *grid
}

func newByFeatures(in []*experiment.Record) *byFeatures {
	t := &byFeatures{}
	material := map[string]any{}
	for _, r := range in {
		for _, row := range r.Rows {
			name := fmt.Sprint(row["features"])
			if _, ok := material[name]; !ok {
				t.names = append(t.names, name)
			}
			material[name] = row["public_pretraining"]
			t.rows = append(t.rows, row)
		}
	}
	slices.SortStableFunc(t.names, func(a, b string) int {
		trained := func(name string) int {
			if material[name] == "glyphs" {
				return 1
			}
			return 0
		}
		return trained(a) - trained(b)
	})
	head := []string{"central ε", "row"}
	for _, name := range t.names {
		shown := "`" + name + "`"
		if text := publicMaterial[material[name]]; text != "" {
			shown = text + ", " + shown
		}
		head = append(head, shown)
	}
	t.grid = newGrid(head...)
	return t
}

// at returns the row of a mechanism on features at a central ε, 0 for that without any; nil where there
// is none.
func (t *byFeatures) at(features, mechanism string, epsilon float64) map[string]any {
	i := slices.IndexFunc(t.rows, func(row map[string]any) bool {
		central, private := row["epsilon_central"].(float64)
		_, near := asked(central, []float64{epsilon})
		return row["features"] == features && row["mechanism"] == mechanism && (private && near || !private && epsilon == 0)
	})
	if i < 0 {
		return nil
	}
	return t.rows[i]
}

// planned are the planner's rows on features.
func (t *byFeatures) planned(features string) (rows []map[string]any) {
	for _, row := range t.rows {
		if row["features"] == features && row["mechanism"] == "auto" {
			rows = append(rows, row)
		}
	}
	return rows
}

// add adds a line with a cell for each features, unless all are empty.
func (t *byFeatures) add(epsilon, what string, cell func(features string) (string, error)) error {
	cells, some := []string{epsilon, what}, false
	for _, name := range t.names {
		text, err := cell(name)
		if err != nil {
			return err
		}
		if some = some || text != ""; text == "" {
			text = "–"
		}
		cells = append(cells, text)
	}
	if some {
		t.grid.add(cells...)
	}
	return nil
}

// addPlanned adds a line about the planner's runs at a central ε.
func (t *byFeatures) addPlanned(epsilon float64, what string, cell func(row map[string]any) (string, error)) error {
	return t.add(fmt.Sprint(epsilon), what, func(features string) (string, error) {
		if row := t.at(features, "auto", epsilon); row != nil {
			return cell(row)
		}
		return "", nil
	})
}

// accuracyByFeatures has lines for each central ε: the planned runs, with what stands beside them.
func accuracyByFeatures(in []*experiment.Record) (string, error) {
	t := newByFeatures(in)
	err := t.add("no client", zeroShot.name, func(features string) (string, error) {
		for _, row := range t.planned(features) {
			return zeroShot.cell(row), nil
		}
		return "", nil
	})
	if err != nil {
		return "", err
	}
	for _, epsilon := range []float64{0.1, 0.25, 0.6, 1, 2, 4} {
		if err := t.budget(epsilon); err != nil {
			return "", err
		}
	}
	if err := t.add("no limit", longNames["none"], func(features string) (string, error) {
		return referenceOf(t.at(features, "none", 0), t.planned(features), "no_privacy")
	}); err != nil {
		return "", err
	}
	err = t.add("", "bytes per report, planned", func(features string) (string, error) {
		var bytes []float64
		for _, row := range t.planned(features) {
			v, err := number(row, "bytes_per_report")
			if err != nil {
				return "", err
			}
			bytes = append(bytes, math.Round(v))
		}
		return span(bytes), nil
	})
	return t.grid.String(), err
}

// budget adds the lines of a central ε.
func (t *byFeatures) budget(epsilon float64) error {
	if err := t.addPlanned(epsilon, longNames["auto"], measured); err != nil {
		return err
	}
	if err := t.addPlanned(epsilon, "ε of one report, of all of a client's", func(row map[string]any) (string, error) {
		v, err := numbers(row, "epsilon_local", "epsilon_local_all")
		if err != nil {
			return "", err
		}
		return fl.FormatUp(v[0], 3) + ", " + fl.FormatUp(v[1], 4), nil
	}); err != nil {
		return err
	}
	for _, l := range []besideLine{foundOut, labelsFound} {
		if err := t.addPlanned(epsilon, l.name, func(row map[string]any) (string, error) { return l.cell(row), nil }); err != nil {
			return err
		}
	}
	return t.add(fmt.Sprint(epsilon), longNames["central"], func(features string) (string, error) {
		var beside []map[string]any
		if row := t.at(features, "auto", epsilon); row != nil {
			beside = append(beside, row)
		}
		return referenceOf(t.at(features, "central", epsilon), beside, "trusted_gaussian")
	})
}

// referenceOf writes the accuracy of a reference: of its own row, else of the column beside others.
func referenceOf(own map[string]any, beside []map[string]any, column string) (string, error) {
	if own != nil {
		return measured(own)
	}
	for _, row := range beside {
		if v, ok := row[column].(float64); ok {
			return fmt.Sprintf("%.3f", v), nil
		}
	}
	return "", nil
}
