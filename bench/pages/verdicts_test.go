package pages

import (
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// decided are verdicts of each kind: claims of a paper that are decided, that depend on the draw or the reading, and
// that lack data, and one of ours.
func decided() *experiment.Record {
	yes, no := true, false
	five := &experiment.Share{Held: 5, Of: 5}
	return &experiment.Record{Name: "table3", Origin: experiment.Origin{Command: "go run ./bench table3 --seed 1 --seeds 5"}, Seconds: 75, Verdicts: []experiment.Decision{
		{Claim: "a", Section: "9.2", Quote: "below 2%", Criterion: "< 2 %", Holds: &yes, Ours: "1 %", Detail: "d", Draws: five},
		{Claim: "b", Section: "1", Quote: "4", Criterion: "4", Holds: &no, Ours: "3", Draws: five},
		{Claim: "c", Section: "1", Quote: "best", Criterion: "best", Found: "cannot be settled", Missing: "no data", Ours: "in 1 of 2", Draws: five},
		{Claim: "d", Section: "1", Quote: "x", Criterion: "x", Found: "depends on the draw (2 of 5)", Ours: "y", Draws: five},
		{Claim: "e", Section: "1", Quote: "x", Criterion: "x", Found: "depends on the reading (1 of 2)", Ours: "y", Draws: five},
		{Claim: "ours", Criterion: "z", Holds: &yes, Detail: "12345 of 10000"},
	}}
}

func TestClaimsAreThePapers(t *testing.T) {
	const (
		short = "| claim | the paper | criterion | ours | holds |\n|---|---|---|---|---|\n| a | 9.2: “below 2%” | < 2 % | 1 % | yes |\n| b | 1: “4” | 4 | 3 | **no** |\n| c | 1: “best” | best | in 1 of 2 | cannot be settled: no data; on a stand-in it holds in 5 of 5 draws |\n" +
			"| d | 1: “x” | x | y | depends on the draw (2 of 5) |\n| e | 1: “x” | x | y | depends on the reading (1 of 2) |\n"
		mine   = "| claim of ours | criterion | ours | holds |\n|---|---|---|---|\n| ours | z |  | yes |\n"
		counts = "Of the paper's 5 claims 1 hold, 1 do not, 1 depend on the draw, 1 depend on the reading of the text, and 1 cannot be settled without the paper's data.\n"
		times  = "| experiment | time |\n|---|---|\n| `table3` | 1m15s |\n"
	)
	for want, make := range map[string]func([]*experiment.Record) (string, error){short: claims, mine: own, counts: tally, times: durations} {
		if got, err := make([]*experiment.Record{decided()}); err != nil || got != want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
		}
	}
	if got, err := verdicts([]*experiment.Record{decided()}); err != nil || !strings.Contains(got, "| a | yes | paper: below 2%; criterion: < 2 %; ours: 1 %; d |\n") || !strings.Contains(got, "| ours | yes | criterion: z; 12 345 of 10 000 |\n") {
		t.Errorf("%v, got\n%s", err, got)
	}
}

// A table of claims is made from results that decide some, and a table of times from timed ones.
func TestClaimsNeedDecisions(t *testing.T) {
	none, quick, once, few := decided(), decided(), decided(), decided()
	once.Verdicts[1].Draws, few.Verdicts[1].Draws = nil, &experiment.Share{Held: 4, Of: 4}
	none.Verdicts, none.Seconds = none.Verdicts[5:], 0
	quick.Verdicts[0].Suggests, quick.Verdicts[0].Holds = quick.Verdicts[0].Holds, nil
	for name, of := range map[string]func() (string, error){
		"claims":    func() (string, error) { return claims([]*experiment.Record{decided(), none}) },
		"one draw":  func() (string, error) { return claims([]*experiment.Record{once}) },
		"few draws": func() (string, error) { return claims([]*experiment.Record{few}) },
		"own": func() (string, error) {
			only := decided()
			only.Verdicts = only.Verdicts[:5]
			return own([]*experiment.Record{only})
		},
		"tally":     func() (string, error) { return tally([]*experiment.Record{none}) },
		"durations": func() (string, error) { return durations([]*experiment.Record{none}) },
		"quick":     func() (string, error) { return tally([]*experiment.Record{quick}) },
	} {
		if got, err := of(); err == nil {
			t.Errorf("%s: no error but\n%s", name, got)
		}
	}
}
