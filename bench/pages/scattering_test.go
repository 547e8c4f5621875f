package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Variants have a line each, with what they reach on each data set.
func TestVariantsHaveALineEach(t *testing.T) {
	row := func(whitening float64, central any, accuracy float64) map[string]any {
		return map[string]any{"fitted_on": "1000 digits", "components": 100., "whitening": whitening, "logarithm": 0., "epsilon_central": central, "accuracy": accuracy}
	}
	in := []*experiment.Record{
		{Origin: experiment.Origin{Command: "go run ./bench scattering --data textures --seed 1"}, Rows: []map[string]any{row(0, 0.2499, 0.7), row(0, nil, 0.8), row(0.25, 0.2499, 0.75)}},
		{Origin: experiment.Origin{Command: "go run ./bench scattering --data DIR"}, Rows: []map[string]any{row(0, 0.999, 0.96)}},
	}
	got, err := scattering(in)
	want := strings.Join([]string{
		"| fitted on | components | whitening | logarithm | textures, ε = 0.25 | textures, no privacy | MNIST, ε = 1 |",
		"|---|---|---|---|---|---|---|",
		"| 1000 digits | 100 | 0 | 0 | 0.700 | 0.800 | 0.960 |",
		"| 1000 digits | 100 | 0.25 | 0 | 0.750 |  |  |",
	}, "\n") + "\n"
	if err != nil || got != want {
		t.Errorf("%v, the table is\n%s\nwant\n%s", err, got, want)
	}
	in[0].Rows[0]["epsilon_central"] = 7.
	if _, err := scattering(in); err == nil {
		t.Error("no error for an ε without a column")
	}
}
