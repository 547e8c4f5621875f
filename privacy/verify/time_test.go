package verify_test

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy/verify"
)

// A check that has no time decides nothing, and says so.
func TestACheckWithoutTimeIsUndecided(t *testing.T) {
	for _, c := range []struct {
		round  fl.Round
		method verify.Method
	}{{round("coco", 3, 2, 0, "", 1), verify.Exact}, {round("coco", 2000, 20, 0, "", 1), verify.Statistical}} {
		report := check(t, c.round, verify.Options{Time: 1})
		if report.Holds || !report.Undecided || report.Method != c.method || report.Samples+report.Seeds > 0 || report.Worst != nil || len(report.Faults) > 0 {
			t.Errorf("%+v", report)
		}
		var text strings.Builder
		if err := report.Write(&text); err != nil || !strings.Contains(text.String(), "UNDECIDED: ") || !strings.Contains(text.String(), "the time limit of 1ns ended the check after 0 of ") {
			t.Errorf("%v: %s", err, text.String())
		}
	}
}

// A limit that ends nothing changes nothing.
func TestALongLimitChangesNothing(t *testing.T) {
	for _, r := range []fl.Round{round("coco", 3, 2, 0, "", 1), round("coco", 64, 8, 0, "", 2)} {
		free := check(t, r, verify.Options{Samples: 300, Seeds: 5})
		if limited := check(t, r, verify.Options{Samples: 300, Seeds: 5, Time: time.Hour}); !reflect.DeepEqual(limited, free) {
			t.Errorf("%+v, without a limit %+v", limited, free)
		}
	}
}

// slow takes a millisecond for each report.
type slow struct{ fl.Mechanism }

func (s slow) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	time.Sleep(time.Millisecond)
	return s.Mechanism.Encode(dst, grad, rng)
}

// What a limit leaves is judged by what it can show: a violation is found where there are samples for it, and otherwise
// the promise is neither kept nor broken.
func TestALimitLeavesWhatTheSamplesShow(t *testing.T) { synctest.Test(t, limited) }

// limited needs a clock that stands still while anything is computed: the limit then leaves time for 5000 reports in all, on
// any machine.
func limited(t *testing.T) {
	const asked, gradients, reports = 10_000, 8, 5000
	limit := reports * time.Millisecond / time.Duration(runtime.GOMAXPROCS(0))
	for _, leaks := range []bool{false, true} {
		r := round("collision", 64, 1, 8, "gf2", 4)
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if leaks {
			r.Epsilon = 0.5 // of what costs 4
			m = promised{m.(verify.Enumerable), fl.Guarantee{Trust: fl.Local, Epsilon: 0.5, Relation: fl.ReplaceOne}}
		}
		report, err := verify.Mechanism(t.Context(), slow{m}, r, verify.Options{Method: verify.Statistical, Samples: asked, Time: limit, Rand: seeded()})
		if err != nil {
			t.Fatal(err)
		}
		if report.Confidence != 1-1e-6 || !strings.Contains(strings.Join(report.Notes, "\n"), "the time limit of "+limit.String()+" ended the check after ") {
			t.Errorf("%+v", report)
		}
		// Each gradient has had its share but for the last chunk of each core. Six hundred samples show an ε of 2.9
		// at most.
		if report.Samples > reports/gradients || report.Samples < reports/gradients/2 || report.Holds || report.Undecided == leaks {
			t.Errorf("leaks %v, %d samples: %+v", leaks, report.Samples, report)
		}
	}
}
