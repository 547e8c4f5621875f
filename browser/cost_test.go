package browser

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// planner is the program of the page of costs, below the site.
const planner = "cost/planner.wasm.gz"

// row is what hushgrad account plan says of a trust.
type row struct {
	Trust       string   `json:"trust"`
	Mechanism   string   `json:"mechanism"`
	Epsilon     float64  `json:"epsilon"`
	Local       *float64 `json:"epsilon_against_everybody"`
	LocalReport *float64 `json:"epsilon_of_report_against_everybody"`
	Error       float64  `json:"error_of_round"`
	ErrorOfRun  float64  `json:"error_of_run"`
	Reports     float64  `json:"reports"`
	Bytes       float64  `json:"bytes"`
	Expected    *struct {
		Accuracy       float64 `json:"accuracy"`
		Error          float64 `json:"error"`
		WithoutPrivacy float64 `json:"without_privacy"`
	} `json:"expected_accuracy"`
}

// want is a number that the page must show, and what a reader of it may see.
type want struct{ value, least, most float64 }

// near are numbers with three digits.
func near(values ...float64) (out []want) {
	for _, v := range values {
		out = append(out, want{v, 0.995 * v, 1.005 * v})
	}
	return out
}

// epsilon is rounded up to four digits.
func epsilon(v float64) want { return want{v, v * (1 - 1e-9), 1.001 * v} }

// share has three digits behind the point, as the command prints it.
func share(v float64) want { return want{v, v - 0.0005001, v + 0.0005001} }

// accuracy is what is expected of the run, with an error that is rounded up. There is none for a model of one's own.
func (r row) accuracy() []want {
	if r.Expected == nil {
		return nil
	}
	e := r.Expected.Error
	return []want{share(r.Expected.Accuracy), {e, e, e + 0.001}}
}

// details are the numbers that the page shows of a chosen trust, from top to bottom.
func (r row) details(dim float64) []want {
	numbers := r.accuracy()
	if r.Expected != nil {
		numbers = append(numbers, share(r.Expected.WithoutPrivacy), share(0.1))
	}
	numbers = append(numbers, near(r.ErrorOfRun, r.Error, r.ErrorOfRun/math.Sqrt(dim), 1/math.Sqrt(dim))...)
	if r.Reports != 1 {
		numbers = append(numbers, near(r.Reports, r.Bytes/r.Reports)...)
	}
	numbers = append(numbers, near(r.Bytes)...)
	if r.LocalReport != nil {
		numbers = append(numbers, epsilon(*r.LocalReport))
	}
	if r.Local != nil && r.Trust != "nobody" {
		numbers = append(numbers, epsilon(*r.Local))
	}
	return append(numbers, epsilon(r.Epsilon))
}

// line is the trust's line of the table.
func (r row) line() []want {
	numbers := append(r.accuracy(), near(r.ErrorOfRun, r.Bytes)...)
	if r.Local != nil {
		numbers = append(numbers, epsilon(*r.Local))
	}
	return numbers
}

// asked returns the command that the page shows, and the rows that the command prints.
func asked(t *testing.T, ctx context.Context) (args []string, rows []row) {
	t.Helper()
	args = strings.Fields(value[string](t, ctx, `document.querySelector("#cost .command").textContent`))
	if len(args) < 3 || args[0] != "hushgrad" {
		t.Fatalf("the page shows the command %q", args)
	}
	binary := filepath.Join(t.TempDir(), "hushgrad")
	inModule(t, "go", "build", "-o", binary, "./cmd/hushgrad")
	var answer struct {
		Trusts []row `json:"trusts"`
	}
	if err := json.Unmarshal([]byte(inModule(t, binary, append(args[1:], "-o", "json")...)), &answer); err != nil {
		t.Fatal(err)
	}
	rows = slices.DeleteFunc(answer.Trusts, func(r row) bool { return r.Trust == "own-site" })
	if len(rows) != 4 {
		t.Fatalf("%q has %+v", args, rows)
	}
	return args, rows
}

// number is one on the page: what a reader sees and what it stands for.
type number struct{ Value, Text string }

// shows compares numbers below an element with what they must be.
func shows(t *testing.T, ctx context.Context, selector string, all []want) {
	t.Helper()
	shown := value[[]number](t, ctx, `[...document.querySelectorAll(`+strconv.Quote(selector+" data")+`)].map((d) => ({ Value: d.value, Text: d.textContent.replaceAll(",", "") }))`)
	if len(shown) != len(all) {
		t.Errorf("%s: %v, want %v", selector, shown, all)
		return
	}
	for i, n := range shown {
		exact, err := strconv.ParseFloat(n.Value, 64)
		// Processors round a last digit in other ways than WebAssembly.
		if err != nil || math.Abs(exact-all[i].value) > 1e-9*all[i].value {
			t.Errorf("%s: %s at %d, want %v", selector, n.Value, i, all[i].value)
		}
		read, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || read < all[i].least || read > all[i].most {
			t.Errorf("%s: a reader sees %s at %d, want %+v", selector, n.Text, i, all[i])
		}
	}
}

// planned waits for the answer, which begins in the page's words.
func planned(t *testing.T, ctx context.Context, begins string) {
	t.Helper()
	until(t, ctx, `document.getElementById("cost").getAttribute("aria-busy") === "false"`)
	if said := value[string](t, ctx, `document.querySelector("#cost .state").textContent`); !strings.HasPrefix(said, begins) {
		t.Fatalf("the page says: %s", said)
	}
}

// compare compares what the page shows for each trust with the command's rows.
func compare(t *testing.T, ctx context.Context, rows []row, dim float64, begins string) {
	t.Helper()
	for _, r := range rows {
		must(t, ctx, chromedp.Click(`#cost input[value="`+r.Trust+`"]`))
		planned(t, ctx, begins)
		shows(t, ctx, "#cost dl", r.details(dim))
		shows(t, ctx, `#cost tr[data-trust="`+r.Trust+`"]`, r.line())
		if text := value[string](t, ctx, `document.querySelector("#cost dl").innerText`); !strings.Contains(text, r.Mechanism) {
			t.Errorf("%s: no %s in %s", r.Trust, r.Mechanism, text)
		}
	}
}

// What the page begins its answer with: for digits, and for a model of one's own.
const (
	withAccuracy = "Planned: the accuracy to expect is "
	withNoise    = "Planned: noise is "
)

// The page says what accuracy to expect of digits, as the command does. More privacy and less trust have no higher one.
func TestThePageOfCostsSaysWhatAccuracyToExpect(t *testing.T) {
	address := serve(t)
	ctx, seen := start(t)
	must(t, ctx, screen(360, 800, "light"), chromedp.Navigate(address+"/cost.html"))
	until(t, ctx, `document.querySelector("#cost input") !== null`)
	// 1000 clients, and the ε before 1.
	must(t, ctx, chromedp.Focus("#cost-clients"), chromedp.KeyEvent(kb.Home+strings.Repeat(kb.ArrowRight, 6)+kb.Tab+kb.ArrowLeft))
	until(t, ctx, `document.querySelector("#cost .state").textContent.startsWith("Planning and rehearsing: ") && document.querySelector("#cost progress").value > 0`)
	planned(t, ctx, withAccuracy)
	if value[bool](t, ctx, `document.getElementById("cost-dim").checkVisibility()`) {
		t.Error("the page asks for the weights of a model that it knows")
	}
	args, rows := asked(t, ctx)
	if want := "account plan --features edges-centred --rounds 30 --quick --trust server --clients 1000 --budget 0.8"; strings.Join(args[1:], " ") != want {
		t.Errorf("the command is %q, want %q", args, want)
	}
	compare(t, ctx, rows, 1970, withAccuracy)
	text := value[string](t, ctx, `document.querySelector("#cost .answer").innerText`)
	for _, want := range []string{"On other pictures it is another number", "Without privacy as many rounds reach ", "guessing reaches ", "Accuracy is expected on generated pictures"} {
		if !strings.Contains(text, want) {
			t.Errorf("the answer lacks %q: %s", want, text)
		}
	}
	shoot(t, ctx, 360, 800, "light", "cost-accuracy-360-light")
	accessible(t, ctx, "the page of costs with an accuracy")
	accuracies := func() map[string]float64 {
		return value[map[string]float64](t, ctx, `Object.fromEntries([...document.querySelectorAll("#cost tr[data-trust]")].map((r) => [r.dataset.trust, Number(r.querySelector("data").value)]))`)
	}
	before := accuracies()
	must(t, ctx, chromedp.Focus("#cost-budget"), chromedp.KeyEvent(kb.Home))
	planned(t, ctx, withAccuracy)
	after := accuracies()
	for trust, high := range before {
		if low := after[trust]; !(low <= high) || !(low > 0) {
			t.Errorf("%s: %v at ε = 0.8, and %v at ε = 0.1", trust, high, low)
		}
	}
	if len(before) != 4 || before["nobody"] > before["shuffler"] || after["nobody"] > after["shuffler"] {
		t.Errorf("nobody has a higher accuracy than a shuffler, or trusts are missing: %v and %v", before, after)
	}
	seen.check(t, 50, 500)
}

// The page says what the command says of a model of one's own, and names no accuracy. Keys alone move the controls, and the planner is loaded by the first of them.
func TestThePageOfCostsSaysWhatThePlannerSays(t *testing.T) {
	address := serve(t)
	ctx, seen := start(t)
	must(t, ctx, screen(360, 800, "light"), chromedp.Navigate(address+"/cost.html"))
	until(t, ctx, `document.querySelector("#cost input") !== null`)
	accessible(t, ctx, "the page of costs")
	shoot(t, ctx, 360, 800, "light", "cost-360-light-before")
	loaded := func() bool {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		for _, url := range seen.urls {
			if strings.Contains(url, "/cost/") || strings.HasSuffix(url, "cost-worker.js") {
				return true
			}
		}
		return false
	}
	if loaded() || !value[bool](t, ctx, `document.getElementById("cost-static").checkVisibility()`) {
		t.Error("before a control is moved the planner is loaded, or the page shows no numbers")
	}
	// From the model to the sliders.
	must(t, ctx, chromedp.Focus(`#cost input[value="digits"]`), chromedp.KeyEvent(kb.ArrowDown+kb.Tab+kb.ArrowLeft+kb.Tab+kb.ArrowRight+kb.Tab+kb.ArrowRight))
	planned(t, ctx, withNoise)
	args, rows := asked(t, ctx)
	if want := "account plan --dim 2000 --l1 35.7 --l2 1 --trust server --clients 40000 --budget 1.5"; strings.Join(args[1:], " ") != want {
		t.Errorf("the command is %q, want %q", args, want)
	}
	compare(t, ctx, rows, 2000, withNoise)
	if text := value[string](t, ctx, `document.querySelector("#cost .answer").innerText`); !strings.Contains(text, "plan.NewExamples") || strings.Contains(text, "±") {
		t.Errorf("the page does not say why there is no accuracy: %s", text)
	}
	if !loaded() || value[bool](t, ctx, `document.getElementById("cost-static").checkVisibility()`) {
		t.Error("the planner was not loaded, or the page still shows other numbers")
	}
	for scheme, width := range map[string]int{"light": 360, "dark": 1280} {
		must(t, ctx, screen(width, 800, scheme))
		shoot(t, ctx, width, 800, scheme, "cost-"+strconv.Itoa(width)+"-"+scheme)
		accessible(t, ctx, "the page of costs in "+scheme)
	}
	// Who moves on does not wait for an answer that is not wanted any more.
	must(t, ctx, chromedp.Focus("#cost-dim"), chromedp.KeyEvent(kb.End))
	until(t, ctx, `document.querySelector("#cost .state").textContent.includes(": ")`)
	must(t, ctx, chromedp.Focus("#cost-budget"), chromedp.KeyEvent(kb.Home))
	accessible(t, ctx, "the page of costs while it plans")
	planned(t, ctx, withNoise)
	if args, rows = asked(t, ctx); !strings.Contains(strings.Join(args, " "), "--dim 1000000 ") || args[len(args)-1] != "0.1" {
		t.Errorf("the command is %q", args)
	}
	shows(t, ctx, "#cost dl", rows[3].details(1e6))
	seen.check(t, 50, 500) // what the worker loads is not in them
	program, err := os.Stat(filepath.Join(*site, filepath.FromSlash(planner)))
	if err != nil || program.Size() > 5_000_000 {
		t.Errorf("the planner: %v, want at most 5 MB: %v", program, err)
	}
}

// Without scripts, and where the planner does not run, the page shows what the command printed.
func TestThePageOfCostsWorksWithoutThePlanner(t *testing.T) {
	address := serve(t)
	ctx, _ := start(t)
	pages := http.FileServer(http.Dir(*site))
	without := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, planner) {
			http.NotFound(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(without.Close)
	must(t, ctx, screen(360, 800, "light"), chromedp.Navigate(without.URL+"/cost.html"))
	until(t, ctx, `document.querySelector("#cost input") !== null`)
	must(t, ctx, chromedp.Focus("#cost-clients"), chromedp.KeyEvent(kb.ArrowLeft))
	until(t, ctx, `document.querySelector("#cost .state").textContent.includes("does not run")`)
	types := regexp.MustCompile(`hushgrad account plan --features edges-centred[\s\S]*\n *two-servers +1 +either server alone.* 0\.\d{3} ± 0\.\d{3}`)
	visible := func(when string) {
		t.Helper()
		if text := value[string](t, ctx, `(() => { const s = document.getElementById("cost-static"); return s.checkVisibility() ? s.innerText : "nothing"; })()`); !types.MatchString(text) {
			t.Errorf("%s: %s", when, text)
		}
	}
	visible("without the planner")
	accessible(t, ctx, "the page of costs without the planner")
	must(t, ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}), chromedp.Navigate(address+"/cost.html"))
	visible("without scripts")
}

func TestLighthouseFindsThePageOfCostsAccessibleAndSmall(t *testing.T) {
	small(t, serve(t)+"/cost.html")
}
