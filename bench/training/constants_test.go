package training

import (
	"errors"
	"slices"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// Every row of choices has one planned value. The others change what they name and leave the
// rest to the plan.
func TestChoicesChangeOneConstant(t *testing.T) {
	s := search{central: 1, demands: plan.Training{Dim: 1970, Clients: 6000, Rounds: 10, Delta: 1e-6, L1: 7.121229, L2: 1.414214}}
	choices, err := s.choices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	schedule := s.demands
	schedule.Epsilon = 1
	asPlanned, err := schedule.Schedule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	planned, rate := map[string]int{}, asPlanned.Steps.LearningRate
	for _, c := range choices {
		if _, ok := planned[c.what]; !ok {
			planned[c.what] = 0
		}
		if c.planned {
			planned[c.what]++
		}
		untouched := c.server == planAll && c.Sparsity == 0 && c.Participations == 0 && !c.grey
		if c.contender == "auto" && untouched != c.planned {
			t.Errorf("%s %s: planned %v, %+v", c.what, c.value, c.planned, c.setting)
		}
		if c.what == "momentum" && !c.planned {
			if total := c.server.rate / (1 - c.server.momentum); total < 1.99*rate || total > 2.01*rate {
				t.Errorf("momentum %s: rate %g, planned %g", c.value, c.server.rate, rate)
			}
		}
	}
	for what, n := range planned {
		if n != 1 {
			t.Errorf("%s has %d planned values", what, n)
		}
	}
	half := slices.IndexFunc(choices, func(c choice) bool { return c.value == "half" })
	if got := choices[half].server.rate; got != rate/2 {
		t.Errorf("half of the planned rate %g is %g", rate, got)
	}
}

// A value that is clearly better than the planned one is found.
func TestBetterConstantsAreFound(t *testing.T) {
	at := func(value string, planned bool, accuracies ...float64) choice {
		c := choice{what: "momentum", value: value, planned: planned, cell: &cell{}}
		for _, a := range accuracies {
			c.cell.outcomes = append(c.cell.outcomes, outcome{accuracy: a})
		}
		return c
	}
	worse, planned, better := at("0", false, 0.7, 0.71), at("0.5", true, 0.9, 0.901), at("0.9", false, 0.99, 0.9901)
	if r := reportConstants([]choice{worse, planned}, 1, "note"); !r.Verdicts[0].Holds || len(r.Rows) != 2 {
		t.Errorf("%+v", r)
	}
	r := reportConstants([]choice{worse, planned, better}, 1, "note")
	if r.Verdicts[0].Holds || len(r.Verdicts) != 1 || r.Verdicts[0].Detail != "0: 0.705; 0.5: 0.901; 0.9: 0.990" {
		t.Errorf("%+v", r.Verdicts)
	}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	if r := reportConstants([]choice{at("0", false, 0.7), at("0.5", true, 0.6)}, 1, "note"); len(r.Verdicts) != 0 {
		t.Errorf("single runs decide %+v", r.Verdicts)
	}
}

func TestConstantsFlags(t *testing.T) {
	flags := flag.NewFlagSet("constants", flag.ContinueOnError)
	run := constantsExperiment().Bind(flags)
	if err := command.Parse(flags, []string{"--central", "0"}); err != nil {
		t.Fatal(err)
	}
	var p *fl.ParamError
	if _, err := run(t.Context(), experiment.Env{Jobs: 1, Quick: true}); !errors.As(err, &p) || p.Param != "--central" {
		t.Errorf("error %v", err)
	}
}
