package attack

import (
	"context"
	"errors"
	"io"
	"reflect"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// Two classes, four clients; reports speak for the class by 1, and in round 1 of client 3 by
// −5: alone it is found, with its second report it is not.
func TestAttacksCountHits(t *testing.T) {
	labels := []int{0, 1, 0, 1}
	speak := func(class int, by float64) []float64 {
		l := make([]float64, 2)
		l[class] = by
		return l
	}
	var likelihoods [][][]float64
	for _, label := range labels {
		likelihoods = append(likelihoods, [][]float64{speak(label, 1), speak(label, 1)})
	}
	likelihoods[3][1] = speak(1, -5)
	if got := attackLinked(likelihoods, labels, 1); got.Value != 1 {
		t.Errorf("one report: %+v", got)
	}
	if got := attackLinked(likelihoods, labels, 2); got != experiment.ShareInterval(3, 4) {
		t.Errorf("two reports: %+v", got)
	}
	// Each client is given the report of the next one, which has the other label.
	if got := attackShuffled(likelihoods, labels, 1); got.Value != 0 {
		t.Errorf("another client's report: %+v", got)
	}
	if got := mostCommon([]int{2, 0, 2, 1}, 3); got != 0.5 {
		t.Errorf("most common label: %g", got)
	}
}

func bound(t *testing.T, args ...string) experiment.Run {
	t.Helper()
	f := flag.NewFlagSet("attack", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	run := Experiments()[0].Bind(f)
	if err := command.Parse(f, args); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestSettingsAreChecked(t *testing.T) {
	for param, args := range map[string][]string{
		"--epsilon": {"--epsilon", "0"}, "--victims": {"--victims", "19"}, "--victims ": {"--victims", "-5"}, "--epsilon ": {"--epsilon", "NaN"},
	} {
		_, err := bound(t, args...)(t.Context(), experiment.Env{Seed: 1, Quick: true, Jobs: 1})
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != args[0] {
			t.Errorf("%s: error %v", param, err)
		}
	}
}

// The attack finds more with more reports, and is as good as a blind guess on shuffled ones.
// With 60 clients 0.35 is 6 standard errors above the 0.1 of a blind guess, so that it is
// passed by chance with probability below 1e-8; the seed is fixed all the same. The numbers
// do not depend on the number of jobs.
func TestLinkedReportsRevealTheLabel(t *testing.T) {
	if testing.Short() {
		t.Skip("encodes and decodes 1800 reports one by one, twice")
	}
	var results []*experiment.Result
	for _, jobs := range []int{1, 4} {
		r, err := bound(t, "--victims", "60", "--epsilon", "4.5")(t.Context(), experiment.Env{Seed: 1, Quick: true, Jobs: jobs})
		if err == nil {
			err = r.Validate()
		}
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if !reflect.DeepEqual(results[0].Rows, results[1].Rows) {
		t.Error("the rows depend on the number of jobs")
	}
	first, last := results[0].Rows[0], results[0].Rows[len(linked)-1]
	if one, all := first[2].(float64), last[2].(float64); one < 0.25 || all < 0.9 {
		t.Errorf("labels found: %g from one report, %g from %d", one, all, linked[len(linked)-1])
	}
	if mixed := last[5].(float64); mixed > 0.35 {
		t.Errorf("labels found from shuffled reports: %g", mixed)
	}
}

func TestTheAttackStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := bound(t)(ctx, experiment.Env{Seed: 1, Quick: true, Jobs: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
