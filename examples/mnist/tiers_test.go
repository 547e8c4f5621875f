package main

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// mixed is a small run whose clients choose their ε.
func mixed(t *testing.T) config {
	t.Helper()
	c, err := parseFlags([]string{"-tiers", "0.5:0.5,2:0.3,8:0.2", "-clients", "900", "-cohort", "300", "-rounds", "6", "-seed", "7"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryCohortHasTheSharesOfTheTiers(t *testing.T) {
	c := mixed(t)
	for first := 0; first < 900; first += 300 {
		var counts [3]int
		for id := first; id < first+300; id++ {
			counts[c.tierOf(id)]++
		}
		if counts != [3]int{150, 90, 60} {
			t.Errorf("clients from %d on: %v", first, counts)
		}
	}
	if policies := c.policies(); len(policies) != 3 || policies[1].MaxEpsilon != 2 || policies[2].MinReports != 300 {
		t.Errorf("policies %+v", policies)
	}
}

// A mixed run trains through the real server: the reports of each tier are as many as
// chose it, the weights favour those who tell more, and clients who take part again
// draw anew.
func TestMixedClientsTrain(t *testing.T) {
	c := mixed(t)
	_, data := small(t, "coco")
	model, err := c.modelOn(data.Train)
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = c.planned(t.Context(), model); err != nil {
		t.Fatal(err)
	}
	f := running(t, c, data.Train)
	for i := range 4 {
		e, sent, err := f.round(t.Context(), i, func() {})
		if err != nil || sent.reports != 300 {
			t.Fatalf("round %d: %+v, %v", i, sent, err)
		}
		if len(e.Tiers) != 3 || e.Tiers[0].Reports != 150 || e.Tiers[2].Reports != 60 || e.Tiers[2].Weight < e.Tiers[0].Weight ||
			math.Abs(e.Tiers[0].Weight+e.Tiers[1].Weight+e.Tiers[2].Weight-1) > 1e-9 || e.Tiers[1].Guarantee.Epsilon != 2 {
			t.Errorf("round %d: %+v", i, e.Tiers)
		}
	}
	var out strings.Builder
	if err := train(t.Context(), c, data, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "ε = 0.5 for 50 %, ε = 2 for 30 %, ε = 8 for 20 % of the clients") {
		t.Errorf("output:\n%s", out.String())
	}
}

// In a seeded run a client draws from another stream each time it takes part.
func TestAClientsDrawsDifferBetweenEpochs(t *testing.T) {
	c, data := small(t, "coco")
	c.rounds = 6
	f := running(t, c, data.Train)
	round := opened(t, f, func(r *fl.Round) { r.TargetReports = 0 })
	first, err := f.devices[0].clients[0].Join(t.Context(), round)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(epoch int) string {
		report, err := first.Encode(nil, make([]float64, f.model.Dim()), c.stream(forClient, uint64(3+epoch*c.clients)))
		if err != nil {
			t.Fatal(err)
		}
		return string(report)
	}
	if encode(0) == encode(1) {
		t.Error("client 3 sends the same report twice")
	}
}
