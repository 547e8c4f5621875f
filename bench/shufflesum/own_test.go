package shufflesum

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// Items of a file are counted: each count is the truth, and each estimate is within 6 standard errors of it, which a run with this
// seed is. An item that a client holds twice counts once.
func TestItemsOfOnesOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "items.csv")
	var text strings.Builder
	text.WriteString("client,item\n")
	for i := range 500 {
		fmt.Fprintf(&text, "c%d,all\nc%d,all\n", i, i)
		if i%5 == 0 {
			fmt.Fprintf(&text, "c%d,some\n", i)
		}
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := quickly(t, t.Context(), "sparvecsum", experiment.Env{Seed: 1, Jobs: 1}, "--items", file, "--epsilon", "4", "--show", "0")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 2 || !strings.HasPrefix(r.Notes[0], "500 clients, 2 items") {
		t.Fatalf("%v, %q, %v", r.Rows, r.Notes, err)
	}
	for i, want := range []experiment.Row{{"all", 500}, {"some", 100}} {
		row := r.Rows[i]
		if row[0] != want[0] || row[1] != want[1] || math.Abs(row[2].(float64)-float64(want[1].(int))) > 6*row[3].(float64) {
			t.Errorf("%v, want %v", row, want)
		}
	}
	if err := os.WriteFile(file, []byte("item,client\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for param, args := range map[string][]string{"--items": {"--items", file}, "--show": {"--show", "-1"}} {
		var wrong *fl.ParamError
		if _, err := quickly(t, t.Context(), "sparvecsum", experiment.Env{Seed: 1, Quick: true}, args...); !errors.As(err, &wrong) || wrong.Param != param {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := quickly(t, t.Context(), "sparvecsum", experiment.Env{Seed: 1, Quick: true}, "--composition", "none"); err == nil {
		t.Error("no error for an unheard composition")
	}
}
