package speed

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Every operation is measured, and none takes no time.
func TestOperationsAreMeasured(t *testing.T) {
	r, err := run(t.Context(), experiment.Env{Quick: true, Repeats: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	var seen []any
	for _, row := range r.Rows {
		if least, median := row[5].(float64), row[6].(float64); !(least > 0 && least <= median) {
			t.Errorf("%v", row)
		}
		if !slices.Contains(seen, row[0]) {
			seen = append(seen, row[0])
		}
	}
	if len(r.Rows) != 4*2+2 || len(seen) != 3 || len(r.Plot.Panels[0].Series) != 4 {
		t.Errorf("%d rows of %v, %d series", len(r.Rows), seen, len(r.Plot.Panels[0].Series))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, experiment.Env{Quick: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Both forms are measured on real reports: the shares have their length, and messages vary.
func TestBothFormsOfASumAreMeasured(t *testing.T) {
	s := sumsSetting{dim: 30, clients: 100, epsilon: 1, delta: 1e-6}
	r, err := s.run(t.Context(), experiment.Env{Quick: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if len(r.Rows) != 2 || r.Rows[0][0] == r.Rows[1][0] {
		t.Fatalf("rows %v", r.Rows)
	}
	for _, row := range r.Rows {
		if bytes, least, median := row[6].(float64), row[7].(float64), row[8].(float64); !(bytes > 32 && least > 0 && least <= median) {
			t.Errorf("%v", row)
		}
	}
	s.delta = 2
	if _, err := s.run(t.Context(), experiment.Env{Quick: true, Seed: 1}); err == nil {
		t.Error("a δ of 2 was accepted")
	}
}
