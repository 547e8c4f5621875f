package pages

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/sparse"
)

// What pages say in words about the demo's plan is what is planned, rounded up.
func TestPagesSayWhatTheDemoPlans(t *testing.T) {
	demo, err := plan.NewTask(plan.DemoFeatures)
	if err != nil {
		t.Fatal(err)
	}
	run, err := demo.Of(plan.Request{Mechanism: "coco", Clients: 60000, Delta: 1e-6}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Promise(t.Context(), run.Rounds)
	if err != nil {
		t.Fatal(err)
	}
	slots, err := run.Template.Params.Int(sparse.ParamSlots)
	if err != nil {
		t.Fatal(err)
	}
	s, tt, e := float64(run.Sparsity), float64(slots), math.Exp(*p.Local)
	right := math.Ceil(100 * (0.5 + s*(e-1)/(2*(s*e+tt-s))))
	local := fl.FormatUp(*p.Local, 3)
	for page, says := range map[string][]string{
		"README.md": {
			fmt.Sprintf("ε is larger: %s for one report, with the default features at a central ε of 1, and %d times as much for a client's %d reports",
				local, run.Rounds, run.Rounds),
		},
		"docs/threat-model.md": {
			fmt.Sprintf("ε = %s and s = %d", local, run.Sparsity), fmt.Sprintf("t = %d slots", slots), fmt.Sprintf("makes %.0f %%", right),
			fmt.Sprintf("it is %s for %d reports", fl.FormatUp(*p.LocalTotal, 4), run.Rounds), fmt.Sprintf("it is %s at δ", fl.FormatUp(*p.Central, 2)),
		},
	} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		flat := strings.Join(strings.Fields(string(text)), " ")
		for _, want := range says {
			if !strings.Contains(flat, want) {
				t.Errorf("%s does not say %q", page, want)
			}
		}
	}
}
