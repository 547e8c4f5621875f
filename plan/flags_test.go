package plan

import (
	"errors"
	"reflect"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// A flag that would change nothing is an error, and no other is.
func TestIgnoredFlagsAreErrors(t *testing.T) {
	for _, c := range []struct {
		args  []string
		param string
	}{
		{[]string{"--mechanism", "none", "--epsilon", "0"}, "--epsilon"},
		{[]string{"--mechanism", "none", "--budget", "1"}, "--budget"},
		{[]string{"--mechanism", "none", "--max-epsilon", "1"}, "--max-epsilon"},
		{[]string{"--mechanism", "sumdp", "--max-epsilon", "1"}, "--max-epsilon"},
		{[]string{"--epsilon", "1", "--max-epsilon", "2"}, "--max-epsilon"},
		{[]string{"--max-epsilon", "2", "--budget", "1"}, ""},
		{[]string{"--delta", "1e-5", "--mechanism", "none"}, "--delta"},
		{[]string{"--mechanism", "none", "--sparsity", "5"}, "--sparsity"},
		{[]string{"--mechanism", "none", "--clip", "5"}, "--clip"},
		{[]string{"--mechanism", "none", "--explain"}, "--explain"},
		{[]string{"--mechanism", "sumdp", "--explain"}, "--explain"},
		{[]string{"--mechanism", "sumdp", "--sparsity", "5"}, "--sparsity"},
		{[]string{"--mechanism", "sumdp", "--epsilon", "1", "--budget", "1", "--delta", "1e-5", "--clip", "2", "--lr", "3", "--cohort", "9", "--rounds", "3", "--clients", "50"}, ""},
		{[]string{"--mechanism", "none", "--lr", "3", "--cohort", "9", "--rounds", "3", "--clients", "50"}, ""},
		{[]string{"--mechanism", "coco", "--epsilon", "1", "--budget", "1", "--delta", "1e-5", "--clip", "2", "--sparsity", "5", "--explain"}, ""},
		{nil, ""},
	} {
		f := flag.NewFlagSet("x", flag.ContinueOnError)
		f.Bool("explain", false, "")
		_, check := Flags(f)
		if err := command.Parse(f, c.args); err != nil {
			t.Fatal(err)
		}
		var p *fl.ParamError
		if err := check(); (err == nil) != (c.param == "") || err != nil && (!errors.As(err, &p) || p.Param != c.param) {
			t.Errorf("%q: error %v, want one about %q", c.args, err, c.param)
		}
	}
}

// What no flag says is what the zero Request leaves to the planner, for 60 000 clients.
func TestDefaultsOfFlags(t *testing.T) {
	q, _ := Flags(flag.NewFlagSet("x", flag.ContinueOnError))
	if want := (Request{Mechanism: "auto", Clients: 60000, Delta: 1e-6}); !reflect.DeepEqual(*q, want) {
		t.Errorf("defaults %+v, want %+v", *q, want)
	}
}
