package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// demo is the request that examples/mnist makes of the same flags: with the norms that it
// measures on generated digits.
func demo(t *testing.T, args ...string) plan.Request {
	t.Helper()
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	q, check := plan.Flags(f)
	if err := errors.Join(command.Parse(f, args), check()); err != nil {
		t.Fatal(err)
	}
	public, err := published()
	if err != nil {
		t.Fatal(err)
	}
	public.Fill(q)
	q.PerClient = max(1, dataset.Pictures/q.Clients)
	return *q
}

// published is what is public about the demo's task.
var published = sync.OnceValues(func() (*dataset.Public, error) {
	opened, err := dataset.OpenFeatures(context.Background(), dataset.DemoFeatures, nil)
	if err != nil {
		return nil, err
	}
	return dataset.NewPublic(context.Background(), dataset.Digits, 10, opened, dataset.ToRehearse, nil)
})

// The demo and account plan answer the same question alike.
func TestAccountPlanIsTheDemosPlan(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	questions := [][]string{
		{"--mechanism", "none", "--rounds", "2"},
		{"--cohort", "777", "--clients", "3000", "--budget", "0.5", "--rounds", "2", "--mechanism", "coco"},
		nil, {"--trust", "shuffler", "--cohort", "4000", "--clip", "5", "--lr", "3", "--rounds", "4", "--max-epsilon", "1.5", "--budget", "0.1"},
		{"--mechanism", "sumdp", "--rounds", "2"},
		{"--epsilon", "2", "--rounds", "3", "--mechanism", "signsketch", "--delta", "1e-7", "--sparsity", "20"},
	}
	for _, args := range questions {
		args = append(args, "--force")
		want, err := demo(t, args...).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		promise, err := want.Promise(t.Context(), want.Affordable)
		if err != nil {
			t.Fatal(err)
		}
		var got planned
		ask(t, &got, append([]string{"plan", "-o", "json"}, args...)...)
		alike := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
		if got.Mechanism != want.Mechanism || got.Dim != want.Dim || got.Clients != want.Clients || got.Cohort != want.Cohort || got.Rounds != want.Rounds ||
			got.Sparsity != want.Sparsity || got.Budget != want.Budget || got.Momentum != want.Momentum || got.Averaging != want.Averaging ||
			got.LearningRate != want.LearningRate || !reflect.DeepEqual(got.Expected, want.Expected) || got.Participations != promise.Participations || got.Delta != promise.Delta ||
			!alike(got.Local, promise.Local) || !alike(got.LocalTotal, promise.LocalTotal) || !alike(got.Central, promise.Central) {
			t.Errorf("%q: account plan says %+v %+v, the demo %+v %+v", args, got.Run, got.Promise, want, promise)
		}
	}
}

// A plan that is refused says which model it is of, and what the budget is worth with every trust.
func TestARefusedPlanComparesTrusts(t *testing.T) {
	var out, notes strings.Builder
	args := []string{"account", "plan", "--clients", "100", "--rounds", "3", "-o", "json"}
	code := call(t.Context(), args, &out, &notes)
	var got compared
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || code != 1 || !strings.Contains(notes.String(), "more noise than signal") || !strings.Contains(notes.String(), "one of pictures") {
		t.Fatalf("exit code %d, %v: %s %s", code, err, out.String(), notes.String())
	}
	var trusts []string
	for _, row := range got.Trusts {
		trusts = append(trusts, string(row.Trust))
	}
	if want := []string{"nobody", "own-site", "shuffler", "two-servers", "server"}; !slices.Equal(trusts, want) {
		t.Errorf("%q, want %q", trusts, want)
	}
}

// The text is the demo's: what was compared, and what is promised.
func TestAccountPlanInWords(t *testing.T) {
	text := ask(t, nil, "plan", "--trust", "shuffler", "--clients", "3000", "--rounds", "2", "--mechanism", "coco", "--epsilon", "4")
	for _, want := range []string{"model              softmax regression with 650 weights", "2 rounds of 3000 clients, each client up to 2 times", "local ε central", "learning rate", "local privacy      ε = ", "central privacy    ε = ", "expected accuracy  "} {
		if !strings.Contains(text, want) {
			t.Errorf("account plan lacks %q:\n%s", want, text)
		}
	}
}

// Every question about pictures has an expected accuracy, with its error, for any number of clients.
func TestAccountPlanExpectsAnAccuracy(t *testing.T) {
	if !*long {
		t.Skip("rehearsals for all trusts take seconds")
	}
	var p planned
	ask(t, &p, "plan", "--clients", "500", "--per-client", "1", "--trust", "shuffler", "--features", "edges-centred", "--rounds", "4", "--force", "-o", "json")
	if e := p.Expected; e == nil || !(e.Accuracy > 0.2 && e.Accuracy < 0.9 && e.Error > 0.01 && e.Error < 0.4 && e.Before < 0.2 && e.WithoutPrivacy > 0.9) {
		t.Fatalf("%+v", e)
	}
	if more := p.TenTimes; more == nil || more.Accuracy <= p.Expected.Accuracy+p.Expected.Error {
		t.Errorf("ten times the clients: %+v, and %+v", more, p.Expected)
	}
	for _, row := range p.Trusts {
		if row.Mechanism != "" && (row.Expected == nil || row.Off == nil) {
			t.Errorf("%s: %+v", row.Trust, row)
		}
	}
	text := strings.Join(strings.Fields(ask(t, nil, "plan", "--clients", "500", "--per-client", "1", "--trust", "shuffler", "--features", "edges-centred", "--rounds", "4", "--force")), " ")
	if want := "expected accuracy " + p.Expected.String(); !strings.Contains(text, want) {
		t.Errorf("account plan lacks %q:\n%s", want, text)
	}
	if want := fmt.Sprintf("ten times as many clients are expected to reach %.3f", p.TenTimes.Accuracy); !strings.Contains(text, want) {
		t.Errorf("account plan lacks %q:\n%s", want, text)
	}
}

// A question names features, or has norms of its own.
func TestAccountPlanAsksAboutATask(t *testing.T) {
	var p planned
	ask(t, &p, "plan", "-o", "json", "--rounds", "1", "--clients", "2000", "--dim", "1234", "--l1", "5", "--l2", "1", "--mechanism", "signsketch", "--epsilon", "4")
	if p.Dim != 1234 || p.Expected != nil {
		t.Errorf("%+v", p.Run)
	}
	var zero planned // 0 is what --help says: the task of --features
	if ask(t, &zero, "plan", "-o", "json", "--rounds", "1", "--mechanism", "none", "--features", "edges", "--dim", "0"); zero.Dim != 1970 {
		t.Errorf("--dim 0: %+v", zero.Run)
	}
	if *long {
		dense := []string{"plan", "-o", "json", "--clients", "2000", "--dim", "650", "--l1", "25", "--l2", "1", "--budget", "4", "--force"}
		var best, sparse planned // an error in units of τ is a sparse mechanism's
		ask(t, &best, dense...)
		if ask(t, &sparse, append(dense, "--error", "9")...); best.Mechanism != "privunit" || sparse.Mechanism != "coco" {
			t.Errorf("the best is %s, and with --error %s", best.Mechanism, sparse.Mechanism)
		}
	}
	for _, args := range [][]string{{"--features", "dreams"}, {"--public", "digits,textures"}, {"--features", "auto", "--public", "clouds"}} {
		var bad *fl.ParamError
		err := try(t, append([]string{"account", "plan"}, args...))
		if !errors.As(err, &bad) {
			t.Errorf("%q: error %v, want a ParamError", args, err)
		}
	}
}

// auto says what it compared.
func TestAccountPlanChoosesFeatures(t *testing.T) {
	if !*long { // features of glyphs-big take seconds
		t.Skip("without --long")
	}
	text := ask(t, nil, "plan", "--rounds", "1", "--clients", "2000", "--features", "auto", "--public", "digits")
	if !strings.Contains(text, "loss") || !strings.Contains(text, "glyphs") || strings.Index(text, "loss") > strings.Index(text, "plan: ") {
		t.Errorf("the comparison is not the first thing:\n%s", text)
	}
}

// No plan is printed that has a larger error than was asked for. The number of clients that reach the error is.
func TestPlanChoosesOrSaysHowManyClientsItTakes(t *testing.T) {
	question := func(clients float64, more ...string) []string {
		return append([]string{"account", "plan", "--dim", "1000", "--l1", "4", "--l2", "1.5", "--sparsity", "8", "--trust", "shuffler", "--rounds", "1", "--clients", jsonNumber(clients)}, more...)
	}
	var p planned
	ask(t, &p, question(100, "-o", "json")[1:]...)
	if !p.Feasible || len(p.Considered) != 3 || p.Considered[0].Mechanism != p.Mechanism || *p.Central > 1 || p.Cohort != 100 || p.Considered[0].NoiseOfRun > p.Considered[1].NoiseOfRun {
		t.Errorf("feasible plan: %+v", p)
	}
	want := p.Considered[0].Error / 3
	refused := func(args ...string) (answer infeasible, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := call(t.Context(), append(args, "-o", "json"), &out, &errs); code != 1 || json.Unmarshal(out.Bytes(), &answer) != nil || answer.Feasible || strings.Contains(out.String(), "mechanism") {
			t.Errorf("%q: exit code %d, printed %s", args, code, out.String())
		}
		return answer, errs.String()
	}
	q, says := refused(question(100, "--error", jsonNumber(want))...)
	if q.ClientsNeeded == nil || *q.ClientsNeeded < 150 || *q.ClientsNeeded > 1000 || !strings.Contains(says, fmt.Sprintf("--clients %d, within 1 %%, would reach it", *q.ClientsNeeded)) {
		t.Fatalf("a third of the error: %+v, %s", q, says)
	}
	ask(t, &p, question(float64(*q.ClientsNeeded), "--error", jsonNumber(want), "-o", "json")[1:]...)
	if !p.Feasible || p.Considered[0].Error > want {
		t.Errorf("with the %d clients asked for: %+v", *q.ClientsNeeded, p)
	}
	if !*long { // each planning for a number of clients takes tenths of a second, and for 10⁹ seconds
		return
	}
	// Without -o json there is the sentence alone.
	var out, errs bytes.Buffer
	code := call(t.Context(), question(100, "--error", jsonNumber(want), "--max-epsilon", "0.5"), &out, &errs)
	numbers := regexp.MustCompile(`is [0-9.]+;|--clients \d+,`)
	_, after, _ := strings.Cut(errs.String(), "--clients ")
	number, _, _ := strings.Cut(after, ",")
	limited, err := strconv.Atoi(number)
	if code != 1 || out.Len() > 0 || err != nil || limited < 2**q.ClientsNeeded || numbers.ReplaceAllString(errs.String(), "") != numbers.ReplaceAllString(says, "") {
		t.Errorf("with at most ε = 0.5 in a report: exit code %d, printed %q and %q; without this limit %q", code, out.String(), errs.String(), says)
	}
	if hopeless, says := refused(question(2000, "--error", "1e-9")...); hopeless.ClientsNeeded != nil || !strings.Contains(says, "more than 1000000000 clients would reach it") {
		t.Errorf("an impossible error: %+v, %s", hopeless, says)
	}
}

// The sum of gradients of a round gets all of the budget that a client's rounds leave to it, and not more.
func TestAccountPlanSpendsTheBudgetOfSums(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	// In 10 rounds each client takes part once, and in 30 rounds three times.
	for _, run := range [][]string{{"gaussian-shares", "10"}, {"gaussian-shares", "30"}, {"sumdp", "10"}, {"sumdp", "30"}} {
		var p planned
		if ask(t, &p, "plan", "-o", "json", "--dim", "1970", "--l1", "90", "--l2", "3", "--mechanism", run[0], "--rounds", run[1], "--budget", "0.5"); *p.Central > 0.5 || *p.Central < 0.499 {
			t.Errorf("%s, %s rounds: central ε %g of a budget of 0.5", run[0], run[1], *p.Central)
		}
	}
}

// The error of a gradient follows from its norms: another model's are no default.
func TestAccountPlanAsksForTheNormsOfAGradient(t *testing.T) {
	for _, args := range [][]string{{"--dim", "100000"}, {"--dim", "100000", "--l1", "5"}, {"--dim", "100000", "--l2", "5"}, {"--l1", "5"}, {"--l2", "1"}} {
		var p *fl.ParamError
		if err := try(t, append([]string{"account", "plan"}, args...)); !errors.As(err, &p) || !strings.Contains(err.Error(), "--l1 and --l2") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestAccountPlanRefuses(t *testing.T) {
	for param, args := range map[string][]string{
		"--clients": {"--clients", "1"}, "--error": {"--error", "-1"}, "--cohort": {"--cohort", "1"}, "--epsilon": {"--mechanism", "none", "--epsilon", "1"},
		"--max-epsilon": {"--epsilon", "1", "--max-epsilon", "2"}, "--clip": {"--clip", "1e300"}, "--l1": {"--dim", "9", "--l1", "1e300", "--l2", "1"}, "--l2": {"--dim", "9", "--l1", "1", "--l2", "-1"}, "--dim": {"--dim", "-1"}, "--error and --plot": {"--error", "1", "--epsilon", "1"},
	} {
		err := try(t, append([]string{"account", "plan"}, args...))
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v: error %v, want a ParamError for %s", args, err, param)
		}
	}
}

// The table of trusts ends a plan, and is the whole answer for a trust that no run is planned for.
func TestAccountPlanComparesTrusts(t *testing.T) {
	var p planned
	ask(t, &p, "plan", "-o", "json", "--clients", "3000", "--rounds", "1", "--trust", "nobody", "--budget", "2", "--dim", "650", "--l1", "20", "--l2", "1", "--force")
	if p.Trust != plan.Nobody || *p.LocalTotal != 2 || p.Participations != 1 || len(p.Trusts) != len(plan.Trusts()) {
		t.Errorf("%+v %+v", p.Run, p.Trusts)
	}
	hospitals := []string{"--unit", "record", "--sites", "12", "--records", "12000", "--dim", "1000", "--l1", "20", "--l2", "1", "--budget", "4", "--rounds", "1"}
	p = planned{}
	ask(t, &p, append([]string{"plan", "-o", "json"}, hospitals...)...)
	if p.Trust != plan.OwnSite || p.Promise.Unit != plan.Record || p.Records != 12_000 || *p.LocalTotal > 4 || len(p.Trusts) != len(plan.Trusts()) {
		t.Errorf("hospitals: %+v %+v %+v", p.Run, p.Promise, p.Trusts)
	}
	text := ask(t, nil, append([]string{"plan", "--trust", "two-servers"}, hospitals...)...)
	if !strings.Contains(text, "12 sites") || !strings.Contains(text, "everybody but the server") || !strings.Contains(text, "replace one record") {
		t.Errorf("hospitals with two servers:\n%s", text)
	}
	if *long {
		args := []string{"--trust", "server", "--clients", "3000", "--rounds", "1", "--budget", "1", "--dim", "650", "--l1", "20", "--l2", "1"}
		var c compared
		ask(t, &c, append([]string{"plan", "-o", "json"}, args...)...)
		text := ask(t, nil, append([]string{"plan"}, args...)...)
		if len(c.Trusts) != len(plan.Trusts()) || !strings.Contains(text, "everybody but the server") || strings.Contains(text, "learning rate") {
			t.Errorf("%q: %+v\n%s", args, c, text)
		}
	}
	for _, args := range [][]string{{"--sites", "3"}, {"--unit", "record"}, {"--unit", "record", "--sites", "3", "--records", "2", "--dim", "9", "--l1", "2", "--l2", "1"}, {"--trust", "server", "--error", "1"}, {"--trust", "own-site"}, append(hospitals, "--error", "1"), append(hospitals, "--clients", "5")} {
		var bad *fl.ParamError
		if err := try(t, append([]string{"account", "plan"}, args...)); !errors.As(err, &bad) {
			t.Errorf("%q: error %v, want a ParamError", args, err)
		}
	}
}
