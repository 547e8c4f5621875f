package compose_test

import (
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/baseline/dense"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/privacy/compose"
)

// unshuffled hides the bound on shuffling.
type unshuffled struct{ fl.Mechanism }

func TestReportsTakeTheBestBoundThereIs(t *testing.T) {
	r := fl.Round{
		ID: "r", Mechanism: coco.Name, Dim: 100, Scale: 1, Epsilon: 2, Relation: fl.ReplaceOne, MinReports: 1, PublicSeed: [32]byte{1},
		Params: fl.Params{"sparsity": fl.Int(4), "slots": fl.Int(32)},
	}
	r, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	epsilon := func(m fl.Mechanism) float64 {
		d, err := compose.Reports(m, 1000, compose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.Epsilon(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		return b.Upper
	}
	blanket, err := privacy.NewBlanket(2, 4, 32)
	if err != nil {
		t.Fatal(err)
	}
	want, err := blanket.Epsilon(1000, 1e-6)
	if got := epsilon(m); err != nil || got < want*(1-1e-5) || got > want*1.01 {
		t.Errorf("shuffled: ε = %g, want %g, %v", got, want, err)
	}
	if got := epsilon(unshuffled{m}); math.Abs(got-2) > 1e-3 {
		t.Errorf("without a bound on shuffling: ε = %g, want 2", got)
	}
	r.Mechanism, r.Epsilon, r.Params = dense.Name, math.Inf(1), nil
	if m, err = fl.Open(r); err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if _, err := compose.Reports(m, 1000, compose.Options{}); !errors.As(err, &p) || p.Param != "model" {
		t.Errorf("no privacy: error %v", err)
	}
}
