package keyvalues

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Every kind of figure gives valid rows, verdicts and a picture, the same whatever the number of
// jobs, and goes on from a checkpoint.
func TestFiguresRunRepeatAndResume(t *testing.T) {
	for _, f := range []struct{ number, curves, verdicts int }{{6, 8, 5}, {9, 8, 0}, {12, 11, 6}, {16, 12, 1}} {
		var results []*experiment.Result
		path := filepath.Join(t.TempDir(), "checkpoint")
		for _, jobs := range []int{1, 2, 2} {
			env := experiment.Env{Seed: 5, Quick: true, Jobs: jobs, Repeats: 2}
			if len(results) > 0 {
				var err error
				if env.Checkpoint, err = experiment.OpenCheckpoint(path, "bench"); err != nil {
					t.Fatal(err)
				}
			}
			r, err := start(t, t.Context(), fmt.Sprintf("fig%d", f.number), env, "--clients", "400")
			if err != nil {
				t.Fatalf("figure %d: %v", f.number, err)
			}
			if err := env.Checkpoint.Close(false); err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		first := results[0]
		if err := first.Validate(); err != nil {
			t.Errorf("figure %d: %v", f.number, err)
		}
		if n := fmt.Sprintf("n = %v, d = %v", first.Rows[0][1], first.Rows[0][2]); !strings.HasSuffix(first.Plot.Title, n) {
			t.Errorf("figure %d: the picture is %q, want %q", f.number, first.Plot.Title, n)
		}
		for _, r := range results[1:] {
			if !reflect.DeepEqual(first.Rows, r.Rows) {
				t.Errorf("figure %d: the rows differ between runs", f.number)
			}
		}
		curves := map[any]bool{}
		for _, row := range first.Rows {
			curves[row[5]] = true
			if e := row[7].(float64); !(math.Abs(e) < 12) || row[8] != nil && !(row[8].(float64) <= e && e <= row[9].(float64)) {
				t.Errorf("figure %d: %v", f.number, row)
			}
		}
		if len(curves) != f.curves || len(first.Rows) != 2*3*f.curves || len(first.Verdicts) != f.verdicts {
			t.Errorf("figure %d: %d rows of %v, %d verdicts", f.number, len(first.Rows), curves, len(first.Verdicts))
		}
		if err := paint.SVG(io.Discard, first.Plot); err != nil {
			t.Errorf("figure %d: %v", f.number, err)
		}
	}
}
