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
