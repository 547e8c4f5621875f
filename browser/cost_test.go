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
}

// details are the numbers that the page shows of a chosen trust, from top to bottom. The last ones are ε.
func (r row) details(dim float64) (numbers []float64, epsilons int) {
	numbers = []float64{r.ErrorOfRun, r.Error, r.ErrorOfRun / math.Sqrt(dim), 1 / math.Sqrt(dim)}
	if r.Reports != 1 {
		numbers = append(numbers, r.Reports, r.Bytes/r.Reports)
	}
	numbers = append(numbers, r.Bytes)
	if r.LocalReport != nil {
		numbers, epsilons = append(numbers, *r.LocalReport), 1
	}
	if r.Local != nil && r.Trust != "nobody" {
		numbers, epsilons = append(numbers, *r.Local), 2
	}
	return append(numbers, r.Epsilon), epsilons + 1
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

// shows compares numbers below an element with what they must be. The last of them are ε, which are rounded up.
func shows(t *testing.T, ctx context.Context, selector string, want []float64, epsilons int) {
	t.Helper()
	shown := value[[]number](t, ctx, `[...document.querySelectorAll(`+strconv.Quote(selector+" data")+`)].map((d) => ({ Value: d.value, Text: d.textContent.replaceAll(",", "") }))`)
	if len(shown) != len(want) {
		t.Errorf("%s: %v, want %v", selector, shown, want)
		return
	}
	for i, n := range shown {
		exact, err := strconv.ParseFloat(n.Value, 64)
		// Processors round a last digit in other ways than WebAssembly.
		if err != nil || math.Abs(exact-want[i]) > 1e-9*want[i] {
			t.Errorf("%s: %s at %d, want %v", selector, n.Value, i, want[i])
		}
		read, err := strconv.ParseFloat(n.Text, 64)
		least, most := 0.995*want[i], 1.005*want[i]
		if i >= len(want)-epsilons {
			least, most = want[i]*(1-1e-9), 1.001*want[i]
		}
		if err != nil || read < least || read > most {
			t.Errorf("%s: a reader sees %s at %d, want %v", selector, n.Text, i, want[i])
		}
	}
}

// The page says what the command says. Keys alone move the controls, and the planner is loaded by the first of them.
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
	// From slider to slider, and to the trust that was chosen last.
	must(t, ctx, chromedp.Focus("#cost-clients"), chromedp.KeyEvent(kb.ArrowLeft+kb.Tab+kb.ArrowRight+kb.Tab+kb.ArrowRight))
	planned := func() {
		t.Helper()
		until(t, ctx, `document.getElementById("cost").getAttribute("aria-busy") === "false"`)
		if said := value[string](t, ctx, `document.querySelector("#cost .state").textContent`); !strings.HasPrefix(said, "Planned: noise is ") {
			t.Fatalf("the page says: %s", said)
		}
	}
	planned()
	args, rows := asked(t, ctx)
	if want := "account plan --trust server --clients 40000 --dim 2000 --l1 35.7 --l2 1 --budget 1.5"; strings.Join(args[1:], " ") != want {
		t.Errorf("the command is %q, want %q", args, want)
	}
	for _, r := range rows {
		must(t, ctx, chromedp.Click(`#cost input[value="`+r.Trust+`"]`))
		planned()
		want, epsilons := r.details(2000)
		shows(t, ctx, "#cost dl", want, epsilons)
		line := []float64{r.ErrorOfRun, r.Bytes}
		if r.Local != nil {
			line = append(line, *r.Local)
		}
		shows(t, ctx, `#cost tr[data-trust="`+r.Trust+`"]`, line, len(line)-2)
		if text := value[string](t, ctx, `document.querySelector("#cost dl").innerText`); !strings.Contains(text, r.Mechanism) {
			t.Errorf("%s: no %s in %s", r.Trust, r.Mechanism, text)
		}
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
	planned()
	if args, rows = asked(t, ctx); !strings.Contains(strings.Join(args, " "), "--dim 1000000 ") || args[len(args)-1] != "0.1" {
		t.Errorf("the command is %q", args)
	}
	want, epsilons := rows[3].details(1e6)
	shows(t, ctx, "#cost dl", want, epsilons)
	seen.check(t, 50, 500) // what the worker loads is not in them
	program, err := os.Stat(filepath.Join(*site, filepath.FromSlash(planner)))
	if err != nil || program.Size() > 3_500_000 {
		t.Errorf("the planner: %v, want at most 3.5 MB: %v", program, err)
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
	types := regexp.MustCompile(`hushgrad account plan --trust server[\s\S]*\n *two-servers +1 +either server alone`)
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
