package plan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
)

// Where nobody is trusted the budget is the sum over all reports of a client, δ = 0, and one report spends it.
func TestNobodyIsTrusted(t *testing.T) {
	run, _ := decided(t, func(q *Request) { q.Trust, q.Budget, q.Rounds = Nobody, 2, 0 })
	p, err := run.Promise(t.Context(), run.Affordable)
	if err != nil {
		t.Fatal(err)
	}
	if run.Trust != Nobody || run.Rounds != 16 || run.Cohort != 900/16 || p.Participations != 1 || run.Affordable != 16 || *p.LocalTotal != 2 || p.LocalDelta != 0 || run.Template.Epsilon != 2 {
		t.Errorf("%+v promises %+v", run, p)
	}
	// A cohort may ask for more reports of each client: they share the budget.
	run, _ = decided(t, func(q *Request) { q.Trust, q.Budget, q.Cohort = Nobody, 2, 450 })
	if p, err = run.Promise(t.Context(), run.Affordable); err != nil || p.Participations != 2 || *p.LocalTotal > 2 || *p.LocalTotal < 1.99 || run.Affordable != 4 {
		t.Errorf("two reports: %+v promises %+v, %v", run, p, err)
	}
	// With a given ε of a report the budget ends the run.
	run, _ = decided(t, func(q *Request) { q.Trust, q.Budget, q.Epsilon, q.Cohort, q.Rounds = Nobody, 2, 0.8, 900, 5 })
	if p, err = run.Promise(t.Context(), run.Affordable); err != nil || run.Affordable != 2 || math.Abs(*p.LocalTotal-1.6) > 1e-12 {
		t.Errorf("ε = 0.8 a report: %d rounds, %+v, %v", run.Affordable, p, err)
	}
	// Nothing given is ε = 4, which is more than one of a shuffler's runs.
	if run, _ = decided(t, func(q *Request) { q.Trust = Nobody }); run.Budget != 4 || run.Template.Epsilon != 4 {
		t.Errorf("nothing given: %+v", run)
	}
}

// Two servers are asked for by trust or by mechanism. Where no ε is, all rounds have 1 together, also of sums in one place.
func TestTwoServersAreTrusted(t *testing.T) {
	for _, mechanism := range []string{hdsum.SharesName, hdsum.Name} {
		run, _ := decided(t, func(q *Request) { q.Trust, q.Mechanism = "", mechanism })
		if p, err := run.Promise(t.Context(), run.Affordable); err != nil || run.Budget != 1 || run.Affordable != run.Rounds || p.Participations < 2 || !(*p.Central <= 1 && *p.Central > 0.99) {
			t.Errorf("%s, nothing given: %+v, %v", mechanism, p, err)
		}
	}
	for _, change := range []func(*Request){func(q *Request) { q.Trust = TwoServers }, func(q *Request) { q.Trust, q.Mechanism = "", hdsum.SharesName }} {
		if run, _ := decided(t, change); run.Mechanism != hdsum.SharesName || run.Trust != TwoServers {
			t.Errorf("%+v", run)
		}
	}
}

func TestTrustIsChecked(t *testing.T) {
	for _, change := range []func(*Request){
		func(q *Request) { q.Trust = "aunt" },
		func(q *Request) { q.Trust = Server },
		func(q *Request) { q.Trust, q.Mechanism = Nobody, hdsum.Name },
		func(q *Request) { q.Trust, q.Mechanism = Shuffler, hdsum.SharesName },
		func(q *Request) { q.Trust, q.Mechanism = TwoServers, coco.Name },
	} {
		q := request
		change(&q)
		var bad *fl.ParamError
		if _, err := q.Run(t.Context()); !errors.As(err, &bad) || bad.Param != "trust" {
			t.Errorf("%s with %s: %v", q.Trust, q.Mechanism, err)
		}
	}
	for _, trust := range Trusts() {
		if err := trust.validate(); err != nil || trust.Against() == "" {
			t.Errorf("%s: %v", trust, err)
		}
	}
	if err := Trust("aunt").validate(); err == nil || !strings.Contains(err.Error(), "two-servers") {
		t.Errorf("aunt: %v", err)
	}
	for want, q := range map[Trust]Request{
		Nobody: {Mechanism: mechanisms.Auto}, OwnSite: {Mechanism: mechanisms.Auto, Records: 10}, TwoServers: {Mechanism: hdsum.SharesName, Records: 10},
		Shuffler: {Mechanism: hdsum.Name},
	} {
		if got := q.defaultTrust(); got != want {
			t.Errorf("%+v: %s, want %s", q, got, want)
		}
	}
}
