package pages

import (
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// decided are verdicts of each kind: two claims of a paper that are decided, one that cannot be, and one of ours.
func decided() *experiment.Record {
	yes, no := true, false
	return &experiment.Record{Name: "table3", Seconds: 75, Verdicts: []experiment.Decision{
		{Claim: "a", Holds: &yes, Ours: "1 %", Paper: "2 %", Detail: "d"},
		{Claim: "b", Holds: &no, Ours: "3", Paper: "4"},
		{Claim: "c", Unsettled: "two readings", Ours: "in 1 of 2", Paper: "best"},
		{Claim: "ours", Holds: &yes, Detail: "12345 of 10000"},
	}}
}

func TestClaimsAreThePapers(t *testing.T) {
	const (
		short  = "| claim | ours | paper | holds |\n|---|---|---|---|\n| a | 1 % | 2 % | yes |\n| b | 3 | 4 | **no** |\n| c | in 1 of 2 | best | cannot be settled: two readings |\n"
		long   = "| claim | holds | numbers |\n|---|---|---|\n| a | yes | paper: 2 %; ours: 1 %; d |\n| b | **no** | paper: 4; ours: 3 |\n| c | cannot be settled | paper: best; ours: in 1 of 2; two readings |\n| ours | yes | 12 345 of 10 000 |\n"
		counts = "Of 3 claims 1 hold, 1 do not, and 1 cannot be settled.\n"
		times  = "| experiment | time |\n|---|---|\n| `table3` | 1m15s |\n"
	)
	for want, make := range map[string]func([]*experiment.Record) (string, error){short: claims, long: verdicts, counts: tally, times: durations} {
		if got, err := make([]*experiment.Record{decided()}); err != nil || got != want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
		}
	}
}

// A table of claims is made from results that decide some, and a table of times from timed ones.
func TestClaimsNeedDecisions(t *testing.T) {
	none, quick := decided(), decided()
	none.Verdicts, none.Seconds = none.Verdicts[3:], 0
	quick.Verdicts[0].Suggests, quick.Verdicts[0].Holds = quick.Verdicts[0].Holds, nil
	for name, of := range map[string]func() (string, error){
		"claims":    func() (string, error) { return claims([]*experiment.Record{decided(), none}) },
		"tally":     func() (string, error) { return tally([]*experiment.Record{none}) },
		"durations": func() (string, error) { return durations([]*experiment.Record{none}) },
		"quick":     func() (string, error) { return tally([]*experiment.Record{quick}) },
	} {
		if got, err := of(); err == nil {
			t.Errorf("%s: no error but\n%s", name, got)
		}
	}
}
