package verify_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
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

// slowing takes longer than the time limit for each report from some number on.
type slowing struct {
	fl.Mechanism
	left  *atomic.Int64
	limit time.Duration
}

func (s slowing) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if s.left.Add(-1) < 0 {
		time.Sleep(s.limit)
	}
	return s.Mechanism.Encode(dst, grad, rng)
}

// What a limit leaves is judged by what it can show: a violation is found where there are samples for it, and otherwise
// the promise is neither kept nor broken.
func TestALimitLeavesWhatTheSamplesShow(t *testing.T) {
	const asked = 10_000
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
		left := new(atomic.Int64)
		left.Store(8 * 600)
		limit := 500 * time.Millisecond
		report, err := verify.Mechanism(t.Context(), slowing{m, left, limit}, r, verify.Options{Method: verify.Statistical, Samples: asked, Time: limit, Rand: seeded()})
		if err != nil {
			t.Fatal(err)
		}
		if report.Samples >= asked || report.Confidence != 1-1e-6 || !strings.Contains(strings.Join(report.Notes, "\n"), "the time limit of 500ms ended the check after ") {
			t.Errorf("%+v", report)
		}
		// Six hundred samples show an ε of 2.9 at most, and ten none.
		switch few := report.Samples <= 10; {
		case !leaks && (report.Holds || !report.Undecided), leaks && few && !report.Undecided, leaks && report.Samples > 500 && (report.Holds || report.Undecided):
			t.Errorf("leaks %v, %d samples: %+v", leaks, report.Samples, report)
		}
	}
}
