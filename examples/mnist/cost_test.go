package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// A run that uploads more than the limit says so before anything is sent, and runs
// when it is forced.
func TestCostlyRunsHaveToBeForced(t *testing.T) {
	c := config{cohort: 1000, rounds: 10}
	r := &result{BytesPerReport: maxUpload / 10_000}
	if err := c.affordable(r); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	r.BytesPerReport *= 1.01
	var p *fl.ParamError
	if err := c.affordable(r); !errors.As(err, &p) || !strings.Contains(p.Rule, "-force") {
		t.Errorf("above the limit: %v, want a ParamError that tells of -force", err)
	}
	c.force = true
	if err := c.affordable(r); err != nil {
		t.Errorf("forced: %v", err)
	}
}

// The announced upload of sumdp is near what the clients send.
func TestTheAnnouncedUploadIsHonest(t *testing.T) {
	for _, base := range []string{"gkmps", "bbgn"} {
		c, data := small(t, "sumdp")
		c.sum.base, c.rounds = base, 1
		var out strings.Builder
		if err := train(t.Context(), c, data, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "cost: about") || !strings.Contains(out.String(), "one multiset of values and counts") {
			t.Errorf("%s: the output does not tell the cost:\n%s", base, out.String())
		}
	}
}
