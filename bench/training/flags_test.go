package training

import (
	"errors"
	"maps"
	"slices"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

func TestLists(t *testing.T) {
	if c, err := parseContenders("coco, none"); err != nil || len(c) != 2 || c[0].name != "coco" || c[1].role != reference {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := parseContenders(""); err != nil || len(c) != len(contenders) {
		t.Errorf("%+v, %v", c, err)
	}
	if e, err := parseEpsilons("--local", "0.5, 20"); err != nil || !slices.Equal(e, []float64{0.5, 20}) {
		t.Errorf("%v, %v", e, err)
	}
	for _, bad := range []string{"NaN", "21", "-1", "1,", "Inf"} {
		if e, err := parseEpsilons("--local", bad); err == nil {
			t.Errorf("%q: %v", bad, e)
		}
	}
}

// parseTiers takes increasing ε with shares that sum to 1, and nothing else.
func TestTiersAreParsed(t *testing.T) {
	menu, err := parseTiers(" 0.5:0.5, 2:0.3,8:0.2")
	if err != nil || !slices.Equal(menu, []tier{{0.5, 0.5}, {2, 0.3}, {8, 0.2}}) || offer(menu) != "0.5,2,8" ||
		describe(menu) != "ε = 0.5 for 50 %, ε = 2 for 30 %, ε = 8 for 20 % of the clients" {
		t.Errorf("%v, %v: %s, %s", menu, err, offer(menu), describe(menu))
	}
	for _, bad := range []string{"", "1", "1:1", "1:0.5,2:0.4", "2:0.5,1:0.5", "0:0.5,1:0.5", "1:0.5,21:0.5", "1:NaN,2:0.5", "1:0.5,1:0.5", "x:0.5,2:0.5"} {
		var p *fl.ParamError
		if menu, err := parseTiers(bad); !errors.As(err, &p) || p.Param != "--tiers" {
			t.Errorf("%q: %v, %v", bad, menu, err)
		}
	}
}

// The flags of sumdp are the parameters of its rounds. The protocol is left open for
// the shorter report.
func TestSumDPFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want fl.Params
	}{
		{nil, fl.Params{"range": fl.Real(0.8), "levels": fl.Int(1), "calibration": fl.Text("certified")}},
		{[]string{"--base=bbgn", "--levels=3", "--range=1.5", "--calibration=tight"}, fl.Params{"range": fl.Real(1.5), "levels": fl.Int(3), "calibration": fl.Text("tight"), "base": fl.Text("bbgn")}},
	} {
		flags := flag.NewFlagSet("accuracy", flag.ContinueOnError)
		params := bindSumDP(flags)
		if err := command.Parse(flags, c.args); err != nil || !maps.Equal(params(), c.want) {
			t.Errorf("%v: %v, want %v, %v", c.args, params(), c.want, err)
		}
	}
}
