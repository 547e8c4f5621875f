package experiment_test

import (
	"errors"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	_ "github.com/hushgrad/hushgrad/keyvalue"
	_ "github.com/hushgrad/hushgrad/privunit"
)

// with parses values of --with.
func with(values ...string) ([]experiment.Own, error) {
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	read := experiment.BindWith(f)
	for _, v := range values {
		if err := f.Parse([]string{"--with", v}); err != nil {
			return nil, err
		}
	}
	return read()
}

func TestParametersOfAMechanismOfOnesOwn(t *testing.T) {
	own, err := with("coco:sparsity=s,slots=64,hash=ideal,share=0.5", "privunit")
	if err != nil || len(own) != 2 {
		t.Fatalf("%v, %v", own, err)
	}
	p := own[0].Params(7)
	sparsity, err1 := p.Int("sparsity")
	slots, err2 := p.Int("slots")
	hash, err3 := p.Text("hash")
	share, err4 := p.Real("share")
	if err := errors.Join(err1, err2, err3, err4); err != nil || sparsity != 7 || slots != 64 || hash != "ideal" || share != 0.5 || len(p) != 4 {
		t.Errorf("%v, %v", p, err)
	}
	if own[0].Mechanism != "coco" || !strings.HasPrefix(own[0].Label, "coco:sparsity=s,") || own[1].Params(7) != nil || own[1].Label != "privunit" {
		t.Errorf("%+v", own)
	}
	for _, values := range [][]string{{"unheard"}, {""}, {"coco:"}, {"coco:a"}, {"coco:=1"}, {"coco:a="}, {"coco:a=1,a=2"}, {"coco", "coco"}} {
		_, err := with(values...)
		var wrong *fl.ParamError
		if !errors.As(err, &wrong) || wrong.Param != "--with" {
			t.Errorf("%q: %v", values, err)
		}
	}
}

// What a mechanism is for decides what its scale means.
func TestMechanismsOfEntries(t *testing.T) {
	for name, want := range map[string]bool{"coco": true, "pckv-ue": true, "privunit": false} {
		r := fl.Round{ID: "r", Mechanism: name, Dim: 16, Scale: 1, Epsilon: 2, MinReports: 10, PublicSeed: [32]byte{1}}
		switch name {
		case "coco":
			r.Params = fl.Params{"sparsity": fl.Int(2)}
		case "pckv-ue":
			r.Params = fl.Params{"padding": fl.Int(2)}
		}
		_, m, err := fl.Complete(r)
		if err != nil || experiment.OfEntries(m) != want {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}
