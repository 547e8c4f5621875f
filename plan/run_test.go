package plan

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
)

var request = Request{Mechanism: mechanisms.Auto, Trust: Shuffler, Dim: 500, Clients: 900, Rounds: 4, Delta: 1e-6, L1: 6, L2: 1.4}

// decided is the request with changes as a run, and the explanation of it.
func decided(t *testing.T, change func(*Request)) (*Run, string) {
	t.Helper()
	q := request
	change(&q)
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var why strings.Builder
	if err := run.Explain(&why); err != nil {
		t.Fatal(err)
	}
	fitsATerminal(t, why.String())
	return run, why.String()
}

// fitsATerminal checks that no printed line has more than 80 columns.
func fitsATerminal(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// What a request leaves open is planned, for a central ε of 1.
func TestRunsAreDecided(t *testing.T) {
	run, why := decided(t, func(q *Request) { q.Clients = 400 })
	r := run.Template
	if !slices.Contains([]string{"coco", "collision", "signsketch"}, run.Mechanism) || run.Cohort != 400 || !(r.Epsilon > 0 && r.Epsilon <= 20) ||
		run.Sparsity < 2 || run.LearningRate <= 0 || run.Momentum != 0.5 || run.Averaging != 0.8 || run.Budget != 1 || run.Affordable != 4 || run.MessagesPerReport != 1 {
		t.Errorf("decided %+v", run)
	}
	for _, want := range []string{"local ε", " 4 ", " 100 ", "δ = 1e-06", "nothing in the clients' data of this run", "first found on training pictures of mnist", "learning rate"} {
		if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(why), " ")), strings.ToLower(want)) {
			t.Errorf("the explanation lacks %q:\n%s", want, why)
		}
	}
	if _, why := decided(t, func(q *Request) { q.Mechanism, q.Budget = coco.Name, 0.1 }); !strings.Contains(why, "a larger local ε: ") || !strings.Contains(strings.Join(strings.Fields(why), " "), "(--rounds 16)") {
		t.Errorf("the explanation lacks what its choices buy:\n%s", why)
	}
	if p, err := run.Promise(t.Context(), run.Affordable); err != nil || *p.Central > 1 || *p.Central < 0.95 || *p.Local != r.Epsilon || p.Participations != 4 {
		t.Errorf("promises %+v, %v", p, err)
	}
	if got := run.String(); got != "mechanism "+run.Mechanism+": 4 rounds of 400 clients, each client up to 4 times" || len(run.Remarks()) != 1 || !strings.HasPrefix(run.Remarks()[0], "liars: 1 % of the clients") {
		t.Errorf("%s, %v", got, run.Remarks())
	}
	if run, _ = decided(t, func(q *Request) { q.Mechanism, q.Rounds, q.Epsilon = coco.Name, 0, 1 }); run.Rounds != 30 {
		t.Errorf("%d rounds, want 30", run.Rounds)
	}
}

// What a request says stays.
func TestRequestsAreKept(t *testing.T) {
	run, _ := decided(t, func(q *Request) {
		q.Mechanism, q.Epsilon, q.Cohort, q.Sparsity, q.Clip, q.LearningRate = signsketch.Name, 2, 450, 9, 3, 0.7
	})
	if run.Mechanism != signsketch.Name || run.Template.Epsilon != 2 || run.Cohort != 450 || run.Sparsity != 9 || math.Abs(run.Template.Scale-3./9) > 1e-12 ||
		run.LearningRate != 0.7 || run.Budget != 0 {
		t.Errorf("the request says otherwise: %+v", run)
	}
	if run, _ = decided(t, func(q *Request) { q.Mechanism, q.MaxEpsilon = coco.Name, 0.7 }); run.Template.Epsilon != 0.7 || run.Budget != 1 || run.Schedule.EpsilonCentral >= 1 {
		t.Errorf("a limit of 0.7 for ε: %+v", run.Template)
	}
	// With an ε of its own a run is not planned for the budget: that ends it.
	if run, _ = decided(t, func(q *Request) { q.Mechanism, q.Epsilon, q.Budget = coco.Name, 3, 4 }); run.Template.Epsilon != 3 || run.Budget != 4 || run.Affordable != 4 {
		t.Errorf("ε and budget: %+v", run)
	}
	if run, _ = decided(t, func(q *Request) {
		q.Mechanism, q.Epsilon, q.Budget = coco.Name, 3, *must(run.Spending.Promise(t.Context(), 2)).Central*1.001
	}); run.Affordable != 2 {
		t.Errorf("a budget for two rounds: %d", run.Affordable)
	}
	var end strings.Builder
	if _, err := run.PrintEnd(t.Context(), &end, run.Affordable); err != nil || !strings.Contains(strings.Join(strings.Fields(end.String()), " "), "another round would make it") || !strings.Contains(end.String(), "composed over the 2 rounds") {
		t.Errorf("%s, %v", end.String(), err)
	}
	fitsATerminal(t, end.String())
	if run, _ = decided(t, func(q *Request) { q.Mechanism, q.MaxLearningRate, q.Epsilon = coco.Name, 0.01, 1 }); run.LearningRate != 0.01 {
		t.Errorf("a limit of 0.01 for the learning rate: %g", run.LearningRate)
	}
	if run, _ = decided(t, func(q *Request) { q.Mechanism, q.MaxLearningRate, q.LearningRate, q.Epsilon = coco.Name, 0.01, 3, 1 }); run.LearningRate != 3 {
		t.Errorf("a rate of 3 is limited to %g", run.LearningRate)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The plan is for the cohort that is asked for, also where it leaves some clients out: its
// noise and its central ε are the run's.
func TestPlansAreForTheCohort(t *testing.T) {
	questions := []struct{ clients, cohort, rounds, participations int }{
		{900, 300, 3, 1}, {100, 30, 4, 2}, {60000, 500, 3, 1}, {100, 30, 10, 3}, {70, 13, 9, 2},
	}
	if !*Long {
		questions = questions[:2]
	}
	for _, c := range questions {
		run, _ := decided(t, func(q *Request) {
			q.Mechanism, q.Clients, q.Cohort, q.Rounds, q.Budget = coco.Name, c.clients, c.cohort, c.rounds, 1
		})
		p := must(run.Promise(t.Context(), run.Affordable))
		if run.Cohort != c.cohort || run.Schedule.Cohort != c.cohort || run.Schedule.Participations != c.participations || run.Affordable != c.rounds {
			t.Errorf("%+v: %+v, planned for %d", c, run, run.Schedule.Cohort)
		}
		if p.Participations != c.participations || *p.Central > 1 || *p.Central < 0.95 {
			t.Errorf("%+v: promises %+v", c, p)
		}
	}
}

// Any cohort can be planned, and when nobody sets a budget nothing but the rounds ends the
// run: the guarantee is for the client that takes part most often.
func TestEveryCohortIsPlanned(t *testing.T) {
	questions := []struct{ clients, cohort, participations int }{
		{60000, 7, 1}, {600, 21, 2}, {3, 2, 20}, {2, 2, 30}, {600, 599, 30},
		{60000, 1000, 1}, {600, 600, 30}, {60000, 2, 1}, {600, 313, 16}, {997, 991, 30}, {50, 3, 2},
	}
	if !*Long {
		questions = questions[:5]
	}
	for _, c := range questions {
		run, _ := decided(t, func(q *Request) {
			q.Mechanism, q.Clients, q.Cohort, q.Rounds = signsketch.Name, c.clients, c.cohort, 30
		})
		p := must(run.Promise(t.Context(), run.Rounds))
		if run.Cohort != c.cohort || run.Schedule.Cohort != c.cohort || run.Affordable != 30 || run.Schedule.Participations != c.participations {
			t.Errorf("%+v: %d rounds of %d, planned for %+v", c, run.Affordable, run.Cohort, run.Schedule.Plan)
		}
		if p.Participations != c.participations || !(*p.Central <= 1) || math.Abs(*p.LocalTotal-*p.Local*float64(c.participations)) > 1e-9 {
			t.Errorf("%+v: promises %v", c, p)
		}
	}
}

// A seed repeats the noise: the run is planned as without, and promises nothing.
func TestSeededRunsPromiseNothing(t *testing.T) {
	run, _ := decided(t, func(q *Request) { q.Mechanism, q.Clients, q.Rounds, q.Seed = coco.Name, 100, 2, 7 })
	fresh, _ := decided(t, func(q *Request) { q.Mechanism, q.Clients, q.Rounds = coco.Name, 100, 2 })
	p, open := must(run.Promise(t.Context(), 2)), must(fresh.Promise(t.Context(), 2))
	if p.Local != nil || p.LocalTotal != nil || p.Central != nil || p.LocalDelta != 0 || p.Participations != 2 || p.Seed != 7 || run.Seed != 7 {
		t.Errorf("promises %+v", p)
	}
	if run.Template.Epsilon != fresh.Template.Epsilon || run.LearningRate != fresh.LearningRate || open.Central == nil || open.Seed != 0 {
		t.Errorf("planned %+v, without a seed %+v", run.Template, fresh.Template)
	}
	var end strings.Builder
	if _, err := run.PrintEnd(t.Context(), &end, 2); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(end.String()), " ")
	for _, want := range []string{"privacy none: the seed repeats the noise", "With fresh randomness the same run has: " + open.String()} {
		if !strings.Contains(flat, want) {
			t.Errorf("the end lacks %q:\n%s", want, end.String())
		}
	}
	if strings.Contains(end.String(), "against") {
		t.Errorf("a seeded run says against whom it holds:\n%s", end.String())
	}
	text := string(must(json.Marshal(struct {
		*Run
		Promise
	}{run, p})))
	for _, want := range []string{`"epsilon_local":null`, `"epsilon_local_total":null`, `"epsilon_central":null`, `"seed":7`} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %s: %s", want, text)
		}
	}
}

// counter is a Progress that calls then, if not nil, when it is to grow.
type counter struct {
	done, all atomic.Int64
	then      func()
}

func (c *counter) Step() { c.done.Add(1) }

func (c *counter) Grow(n int) {
	if c.all.Add(int64(n)); c.then != nil {
		c.then()
	}
}

// Planning counts what it compares, and ends when it is told to.
func TestPlanningIsCountedAndCanBeEnded(t *testing.T) {
	var seen counter
	decided(t, func(q *Request) { q.Epsilon, q.Progress = 1, &seen })
	if seen.done.Load() != 12 || seen.all.Load() != 12 {
		t.Errorf("%d of %d compared, want 12 of 12", seen.done.Load(), seen.all.Load())
	}
	ctx, stop := context.WithCancel(t.Context())
	q := request
	q.Progress = &counter{then: stop}
	if _, err := q.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// Runs without privacy and in the shuffle model are not planned.
func TestRunsThatAreNotPlanned(t *testing.T) {
	run, why := decided(t, func(q *Request) { q.Mechanism = baseline.None })
	if run.Cohort != 600 || run.Rounds != 4 || run.LearningRate <= 0 || !strings.HasPrefix(why, "plan: learning rate") || run.Budget != 0 || run.Schedule != nil || !math.IsInf(run.Template.Epsilon, 1) {
		t.Errorf("no privacy: %+v, %s", run, why)
	}
	// Gradients of another norm are the same in another unit.
	other, _ := decided(t, func(q *Request) { q.Mechanism, q.Cohort, q.L2 = hdsum.Name, 300, 3*math.Sqrt2 })
	run, why = decided(t, func(q *Request) { q.Mechanism, q.Cohort, q.L2 = hdsum.Name, 300, math.Sqrt2 })
	if r := run.Template; !(r.Epsilon < 1 && r.Epsilon > 0.4) || run.Cohort != 300 || run.Momentum != 0.5 || run.Averaging != 0.8 || math.Abs(r.Scale-1.4) > 1e-6 || r.Delta != 1e-6/4 ||
		r.Params[hdsum.ParamRange] != fl.Real(0.8) || r.Params[hdsum.ParamLevels] != fl.Int(1) || !strings.HasPrefix(why, "plan: learning rate") {
		t.Errorf("sumdp: %+v", run) // twice each
	}
	if math.Abs(other.Template.Scale-3*1.4) > 1e-9 || math.Abs(9*other.LearningRate/run.LearningRate-1) > 1e-9 {
		t.Errorf("sumdp: clip %g and rate %g for a norm of 3·√2, want 4.2 and a ninth of %g", other.Template.Scale, other.LearningRate, run.LearningRate)
	}
	if remarks := run.Remarks(); len(remarks) < 1 || !strings.HasPrefix(remarks[0], "cost: about") || run.MessagesPerReport <= 1 {
		t.Errorf("sumdp: %v, %g messages", run.Remarks(), run.MessagesPerReport)
	}
	run, _ = decided(t, func(q *Request) { q.Mechanism, q.Clients, q.Rounds = hdsum.Name, 60000, 0 })
	if run.Rounds != 10 || run.Cohort != 6000 || run.Template.Delta != 1e-6 || run.participations() != 1 {
		t.Errorf("sumdp: %+v", run)
	}
	if run, _ = decided(t, func(q *Request) { q.Mechanism, q.Epsilon, q.Clip = hdsum.Name, 2, 3 }); run.Template.Epsilon != 2 || run.Template.Scale != 3 || run.Cohort != 900 {
		t.Errorf("sumdp: %+v", run)
	}
}

// A run by two servers says against whom its ε holds before the first round, and where its budget ends it. It has no local ε.
func TestRunsByTwoServersSayAgainstWhom(t *testing.T) {
	run, why := decided(t, func(q *Request) {
		q.Trust, q.Mechanism, q.Cohort, q.Rounds, q.Budget, q.Epsilon = "", hdsum.SharesName, 300, 30, 3, 1
	})
	var end strings.Builder
	p, err := run.PrintEnd(t.Context(), &end, run.Affordable)
	if err != nil {
		t.Fatal(err)
	}
	if run.Affordable >= run.Rounds || p.Local != nil || p.LocalTotal != nil || p.Central == nil {
		t.Errorf("%d of %d rounds under %+v", run.Affordable, run.Rounds, p)
	}
	for what, text := range map[string]string{
		"no local ε. Every central ε of gaussian-shares is against either server alone": why + strings.Join(run.Remarks(), " "),
		"the budget of central ε = 3 against either server alone is spent":              strings.Join(strings.Fields(end.String()), " "),
	} {
		if !strings.Contains(text, what) {
			t.Errorf("no %q in %s", what, text)
		}
	}
	if text, err := json.Marshal(p); err != nil || !strings.Contains(string(text), `"epsilon_local":null`) || !strings.Contains(string(text), `"against_either_server":true`) {
		t.Errorf("%s, %v", text, err)
	}
}

// A round says what the run says, and a client accepts it and nothing weaker.
func TestRoundsOfARun(t *testing.T) {
	for _, mechanism := range []string{coco.Name, hdsum.Name, hdsum.SharesName, baseline.None} {
		run, _ := decided(t, func(q *Request) { q.Trust, q.Mechanism, q.Cohort = "", mechanism, 450 })
		r := run.Round("mnist-005", [32]byte{9})
		if r.ID != "mnist-005" || r.PublicSeed != [32]byte{9} || r.Mechanism != mechanism || r.Dim != 500 || r.Relation != fl.ReplaceOne ||
			r.MinReports != 450 || r.TargetReports != 450 {
			t.Errorf("%s: round %+v", mechanism, r)
		}
		if s, err := r.Params.Int(sparse.ParamSparsity); (err == nil) != (mechanism == coco.Name) || s != run.Sparsity {
			t.Errorf("%s: sparsity %d, %v", mechanism, s, err)
		}
		m, err := fl.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Policy().Check(r, m.Guarantee()); err != nil {
			t.Errorf("%s: %v", mechanism, err)
		}
		weaker := m.Guarantee()
		if weaker.Epsilon *= 1.01; mechanism != baseline.None && run.Policy().Check(r, weaker) == nil {
			t.Errorf("%s: the policy allows %v", mechanism, weaker)
		}
		if r.MinReports--; run.Policy().Check(r, m.Guarantee()) == nil {
			t.Errorf("%s: the policy allows fewer reports", mechanism)
		}
	}
}

func TestRequestsAreChecked(t *testing.T) {
	for param, changes := range map[string][]func(*Request){
		"mechanism": {func(q *Request) { q.Mechanism = "magic" }},
		"clients":   {func(q *Request) { q.Clients = 1 }},
		"cohort":    {func(q *Request) { q.Cohort = 1 }, func(q *Request) { q.Cohort = 901 }},
		"rounds":    {func(q *Request) { q.Rounds = -1 }, func(q *Request) { q.Rounds = math.MaxInt }},
		"epsilon": {
			func(q *Request) { q.Epsilon = 21 }, func(q *Request) { q.Epsilon = -1 }, func(q *Request) { q.Epsilon = math.NaN() },
			func(q *Request) { q.Mechanism, q.Epsilon = baseline.None, 1 },
		},
		"max epsilon": {
			func(q *Request) { q.MaxEpsilon = -1 }, func(q *Request) { q.MaxEpsilon = 21 }, func(q *Request) { q.MaxEpsilon = math.NaN() },
			func(q *Request) { q.Epsilon, q.MaxEpsilon = 1, 2 }, func(q *Request) { q.Mechanism, q.MaxEpsilon = hdsum.Name, 1 },
			func(q *Request) { q.Mechanism, q.MaxEpsilon = baseline.None, 1 },
		},
		"budget": {
			func(q *Request) { q.Budget = -1 }, func(q *Request) { q.Budget = math.Inf(1) }, func(q *Request) { q.Budget = math.NaN() },
			func(q *Request) { q.Mechanism, q.Budget = baseline.None, 1 }, func(q *Request) { q.Epsilon, q.Budget = 3, 1e-6 },
			func(q *Request) { q.Budget = 1e300 },
		},
		"delta": {func(q *Request) { q.Delta = 0 }, func(q *Request) { q.Delta = 1 }, func(q *Request) { q.Delta = math.NaN() }},
		"sparsity": {
			func(q *Request) { q.Mechanism, q.Sparsity = baseline.None, -1 }, func(q *Request) { q.Sparsity = 501 },
			func(q *Request) { q.Mechanism, q.Sparsity = hdsum.Name, 5 }, func(q *Request) { q.Mechanism, q.Sparsity = baseline.None, 5 },
		},
		"clip": {
			func(q *Request) { q.Clip = -1 }, func(q *Request) { q.Clip = math.NaN() }, func(q *Request) { q.Clip = math.Inf(1) },
			func(q *Request) { q.Clip = 1e300 }, func(q *Request) { q.Clip = 1e-300 }, func(q *Request) { q.Mechanism, q.Clip = baseline.None, 1 },
		},
		"learning rate": {
			func(q *Request) { q.LearningRate = math.Inf(1) }, func(q *Request) { q.LearningRate = -1 }, func(q *Request) { q.LearningRate = 1e300 },
		},
		"max learning rate": {func(q *Request) { q.MaxLearningRate = math.NaN() }},
		"l1":                {func(q *Request) { q.L1 = 0 }},
	} {
		for i, change := range changes {
			q := request
			change(&q)
			var p *fl.ParamError
			if _, err := q.Run(t.Context()); !errors.As(err, &p) || p.Param != param || !strings.HasPrefix(err.Error(), "plan: ") {
				t.Errorf("%s, %d: error %v", param, i, err)
			}
		}
	}
}
