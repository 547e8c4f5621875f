package pages

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/sparse"
)

// publicDigits are n digits that nobody wrote, in features.
func publicDigits(t *testing.T, name string, n int) *dataset.Public {
	t.Helper()
	f, err := dataset.OpenFeatures(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	public, err := dataset.NewPublic(t.Context(), dataset.Digits, 10, f, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// allRounds is what all rounds of a request's run promise together.
func allRounds(t *testing.T, q plan.Request) (*plan.Run, plan.Promise) {
	t.Helper()
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Promise(t.Context(), run.Rounds)
	if err != nil {
		t.Fatal(err)
	}
	return run, p
}

// What pages say in words about the demo's plans is what is planned, rounded up.
func TestPagesSayWhatTheDemoPlans(t *testing.T) {
	// README.md has go run ./examples/mnist --trust shuffler --clients 6000.
	generated := plan.Request{Mechanism: mechanisms.Auto, Trust: plan.Shuffler, Clients: 6000, PerClient: dataset.Pictures / 6000, Delta: 1e-6}
	publicDigits(t, dataset.EdgesCentred, dataset.ToRehearse).Fill(&generated)
	_, best := allRounds(t, generated)
	glyphs := plan.Request{Mechanism: "coco", Trust: plan.Shuffler, Clients: 60000, Delta: 1e-6}
	publicDigits(t, dataset.DemoFeatures, dataset.ToPlan).Fill(&glyphs)
	glyphs.Examples = nil // only the plan counts
	run, p := allRounds(t, glyphs)
	slots, err := run.Template.Params.Int(sparse.ParamSlots)
	if err != nil {
		t.Fatal(err)
	}
	s, tt, e := float64(run.Sparsity), float64(slots), math.Exp(*p.Local)
	right := math.Ceil(100 * (0.5 + s*(e-1)/(2*(s*e+tt-s))))
	local := fl.FormatUp(*p.Local, 3)
	for page, says := range map[string][]string{
		"README.md": {
			fmt.Sprintf("The local ε is %s for one report, and %s for a client's %d reports together",
				fl.FormatUp(*best.Local, 3), fl.FormatUp(*best.LocalTotal, 3), best.Participations),
		},
		"docs/threat-model.md": {
			fmt.Sprintf("ε = %s and s = %d", local, run.Sparsity), fmt.Sprintf("t = %d slots", slots), fmt.Sprintf("makes %.0f %%", right),
			fmt.Sprintf("For %d of the reports above (`--mechanism coco`) it is %s", run.Rounds, fl.FormatUp(*p.LocalTotal, 4)), fmt.Sprintf("it is %s at δ", fl.FormatUp(*p.Central, 2)),
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
