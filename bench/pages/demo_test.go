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

// readmesRun is what the run of README.md promises: go run ./examples/mnist --trust shuffler --clients 6000.
func readmesRun(t *testing.T) plan.Promise {
	t.Helper()
	f, err := dataset.OpenFeatures(t.Context(), dataset.EdgesCentred, nil)
	if err != nil {
		t.Fatal(err)
	}
	public, err := dataset.NewPublic(t.Context(), dataset.Digits, 10, f, dataset.ToRehearse, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := plan.Request{Mechanism: mechanisms.Auto, Trust: plan.Shuffler, Clients: 6000, PerClient: dataset.Pictures / 6000, Delta: 1e-6}
	public.Fill(&q)
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Promise(t.Context(), run.Rounds)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What pages say in words about the demo's plan is what is planned, rounded up.
func TestPagesSayWhatTheDemoPlans(t *testing.T) {
	f, err := dataset.OpenFeatures(t.Context(), dataset.DemoFeatures, nil)
	if err != nil {
		t.Fatal(err)
	}
	public, err := dataset.NewPublic(t.Context(), dataset.Digits, 10, f, dataset.ToPlan, nil)
	if err != nil {
		t.Fatal(err)
	}
	planned := func(mechanism string) (*plan.Run, plan.Promise) {
		q := plan.Request{Mechanism: mechanism, Trust: plan.Shuffler, Clients: 60000, Delta: 1e-6}
		public.Fill(&q)
		q.Examples = nil // only the plan counts
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
	best := readmesRun(t)
	run, p := planned("coco")
	slots, err := run.Template.Params.Int(sparse.ParamSlots)
	if err != nil {
		t.Fatal(err)
	}
	s, tt, e := float64(run.Sparsity), float64(slots), math.Exp(*p.Local)
	right := math.Ceil(100 * (0.5 + s*(e-1)/(2*(s*e+tt-s))))
	local := fl.FormatUp(*p.Local, 3)
	for page, says := range map[string][]string{
		"README.md": {
			fmt.Sprintf("It is %s for one report. It is %s for a client's %d reports together",
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
