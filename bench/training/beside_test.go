package training

import (
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

// The bounds on what a party finds out are e^ε/(e^ε+1) and never below it; without a local ε it
// finds out everything.
func TestAttacksAreBounded(t *testing.T) {
	epsilon := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		epsilon *float64
		delta   float64
		want    float64
	}{{nil, 0, 1}, {epsilon(math.Log(3)), 0, 0.75}, {epsilon(0), 0.2, 0.6}, {epsilon(1), 0, 0.7311}, {epsilon(60), 0, 1}, {epsilon(1), 1, 1}} {
		if got := found(c.epsilon, c.delta); math.Abs(got-c.want) > 1.0001e-4 || got < c.want {
			t.Errorf("%+v: %g", c, got)
		}
	}
	local := math.Log(3)
	if one, all := (course{local: &local, participations: 3}).attacks(); one != found(&local, 0) || all != found(epsilon(3*local), 0) || all < 27./28 {
		t.Errorf("%g from one report, %g from three", one, all)
	}
	if one, all := (course{local: &local, localDelta: 0.4, participations: 2}).attacks(); one != found(&local, 0.2) || all != found(epsilon(2*local), 0.4) {
		t.Errorf("with δ: %g from one report, %g from two", one, all)
	}
}

// Beside every result stand no privacy and the trusted server at the same central ε, whether they are
// in the sweep or not, and each is trained once.
func TestReferencesStandBesideEveryResult(t *testing.T) {
	local, central, large := 2., 0.7, 11.
	names := func(list string) []contender {
		c, err := parseContenders(list)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	own := &task{}
	in := func(name string, epsilon float64, central *float64) *cell {
		return &cell{contender: names(name)[0], task: own, epsilon: epsilon, course: course{local: &local, central: central}}
	}
	auto, auto4, coco, dear := in("auto", 1, &central), in("auto", 4, &central), in("coco", 2, &central), in("gaussian", 2, &large)
	present := in("central", 1, nil)
	cells := []*cell{auto, auto4, coco, dear, present}
	more := sweep{references: true}.refer(cells)
	if len(more) != 3 || auto.plain != more[0] || coco.plain != more[0] || more[0].name != "none" {
		t.Fatalf("%d more runs, want no privacy and two trusted servers", len(more))
	}
	if auto.trusted != present || auto4.trusted != more[1] || more[1].epsilon != 4 || coco.trusted != more[2] || more[2].epsilon != central || dear.trusted != nil {
		t.Errorf("the trusted servers are %+v", more)
	}
	if more := (sweep{}).refer(cells); len(more) != 0 || auto.plain != nil || auto.trusted != present || auto4.trusted != nil {
		t.Errorf("without references: %d more runs", len(more))
	}
}

// The columns say what stands beside an accuracy: of features with a network behind them its accuracy
// without any client, and the labels that an attack finds.
func TestColumnsBesideAnAccuracy(t *testing.T) {
	s := sweep{
		rounds: 3, delta: 1e-6, server: planAll, centrals: []float64{4}, repeats: 1, features: []string{dataset.Grey, "glyphs"},
		contenders: contenders[1:2], references: true,
	}
	r, err := s.on(t.Context(), experiment.Env{Seed: 5, Jobs: 2}, digits(t, 600, 200))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil || len(r.Rows) != 2 {
		t.Fatalf("%d rows, %v", len(r.Rows), err)
	}
	at := func(row int, name string) any { return r.Rows[row][slices.Index(r.Columns, name)] }
	if at(0, "public_pretraining") != "none" || at(0, "zero_shot") != nil || at(1, "public_pretraining") != "glyphs" {
		t.Errorf("rows %v", r.Rows)
	}
	// The network knows digits of the Go fonts well: docs/pretraining.md has 0.99.
	if known, ok := at(1, "zero_shot").(float64); !ok || known < 0.9 {
		t.Errorf("zero-shot accuracy %v", at(1, "zero_shot"))
	}
	for row := range r.Rows {
		plain, trusted := at(row, "no_privacy").(float64), at(row, "trusted_gaussian").(float64)
		if one, all := at(row, "attack_one_report").(float64), at(row, "attack_linked").(float64); !(plain > 0.5 && trusted > 0.1 && one > 0.5 && all > one && all <= 1) {
			t.Errorf("row %v", r.Rows[row])
		}
		if labels, ok := at(row, "attack_labels_found").(float64); !ok || !(labels > 0 && labels <= 1) {
			t.Errorf("row %v: labels found %v", r.Rows[row], at(row, "attack_labels_found"))
		}
	}
}
