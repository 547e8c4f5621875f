package speed

import (
	"context"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// All points are measured, and their errors meet the aims. Times are not judged.
func TestDenseReportsAreMeasured(t *testing.T) {
	r, err := (&denseSetting{dim: 100}).run(t.Context(), experiment.Env{Quick: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if len(r.Rows) != 5 || len(r.Verdicts) != 12 {
		t.Fatalf("%d rows, %d verdicts", len(r.Rows), len(r.Verdicts))
	}
	for i, row := range r.Rows {
		if !(row[7].(float64) > 0) || !(row[8].(float64) > 0) || row[4] != 5+i/4 {
			t.Errorf("%v", row)
		}
	}
	for i := 0; i < len(r.Verdicts); i += 3 {
		if !r.Verdicts[i].Holds {
			t.Errorf("%+v", r.Verdicts[i])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&denseSetting{dim: 10}).run(ctx, experiment.Env{Quick: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
