package browser

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A training run is watched from a round that is open to the last one. The page shows it, without an error,
// for everybody, on small and large screens, in light and dark. docs/dashboard.md has the command.
func TestATrainingRunIsWatchedToItsEnd(t *testing.T) {
	ctx, seen := start(t)
	// Long enough for a browser to load the page twice meanwhile.
	const rounds = "60"
	d := train(t, rounds)
	must(t, ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(d.url))
	until(t, ctx, `document.querySelector("#link").textContent === "Live"`)
	until(t, ctx, `document.querySelectorAll("#open article progress").length > 0`)
	until(t, ctx, `document.querySelectorAll("#training canvas").length === 2 && document.querySelectorAll("#spent canvas, #flow canvas").length === 2 && document.querySelectorAll("#signal canvas").length === 2`)
	d.halt(t, func() {
		accessible(t, ctx, "during the run")
		shoot(t, ctx, 1280, 900, "light", "running-1280-light")
		// What is of most interest comes first, and each axis has a title.
		want := []string{
			"test accuracy: Round, test accuracy", "test loss: Round, test loss",
			"Local ε spent: Round, Sum of local ε", "Reports per second: Time, Reports per second",
			"Signal to noise: Round, Estimate ÷ its error", "noise norm: Round, noise norm",
		}
		got := value[[]string](t, ctx, `[...document.querySelectorAll("article.card .plot")].map((p) => p.closest("article").querySelector("h3").textContent + ": " + charts.get(p).plot.axes.map((a) => a.label).join(", "))`)
		if !slices.Equal(got, want) {
			t.Errorf("the charts are %q, want %q", got, want)
		}
		// Lines to compare with are in the chart and in words.
		if text := value[string](t, ctx, `document.querySelector('#training [data-key="test accuracy"] .lines').textContent + charts.get(document.querySelector('#training [data-key="test accuracy"] .plot')).lines.map((l) => l.value).join()`); !regexp.MustCompile(`^Dashed: before round 1 = (0\.\d+), chance = 0\.1\.(0\.\d+),0\.1$`).MatchString(text) {
			t.Errorf("the accuracy is compared with %q", text)
		}
		if cut := value[[]string](t, ctx, `[...document.querySelectorAll(".chart .scroll")].filter((b) => b.scrollWidth > b.clientWidth).map((b) => b.getAttribute("aria-label"))`); len(cut) > 0 {
			t.Errorf("columns are cut: %q", cut)
		}
	})
	// A page that is opened in the middle has news, too.
	must(t, ctx, chromedp.Reload())
	until(t, ctx, `document.querySelector("#link").textContent === "Live"`)
	if text := value[string](t, ctx, `document.querySelector("#news").textContent`); !strings.HasPrefix(text, "Round mnist-") {
		t.Errorf("the news are %q", text)
	}
	until(t, ctx, `document.querySelector("#past tr th") && document.querySelector("#news").textContent.startsWith("Round mnist-")`)
	until(t, ctx, `document.querySelector("#together dl") !== null`)

	until(t, ctx, `document.querySelector("#link").textContent.startsWith("The server has ended")`)
	<-d.ended
	if d.err != nil {
		t.Fatalf("the demo: %v\n%s", d.err, &d.out)
	}
	until(t, ctx, `document.querySelector("#training tbody th").textContent === "`+rounds+`"`)
	if n := value[int](t, ctx, `document.querySelectorAll("#past tr").length`); fmt.Sprint(n) != rounds {
		t.Errorf("%d rounds are on the page, want %s", n, rounds)
	}
	until(t, ctx, `document.querySelector("#spent tbody th").textContent === "`+rounds+`" && document.querySelector("#spent tbody td").textContent === "240"`)
	// What all rounds cost a client has the last one, too.
	if text := value[string](t, ctx, `document.querySelector("#together").textContent`); !strings.Contains(text, "for the "+rounds+" reports of a client together") {
		t.Errorf("all rounds together: %s", text)
	}
	if text := value[string](t, ctx, `document.querySelector('#training [data-key="test accuracy"] .lines').textContent`); !strings.Contains(text, ", without privacy = 0.") {
		t.Errorf("at the end the accuracy is compared with %q", text)
	}
	// Both have four decimals. The page leaves out zeros at the end.
	shown := value[float64](t, ctx, `Number(document.querySelector('#training [data-key="test accuracy"] tbody td').textContent)`)
	if !strings.Contains(d.out.String(), fmt.Sprintf("test accuracy      %.4f", shown)) {
		t.Errorf("the page ends with an accuracy of %v, the demo with\n%s", shown, &d.out)
	}
	if text := value[string](t, ctx, "document.body.innerText"); !strings.Contains(text, "The central ε does not hold against it.") || strings.Contains(text, "undefined") || strings.Contains(text, "NaN") {
		t.Errorf("the page says:\n%s", text)
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range [][2]int{{360, 740}, {768, 1024}, {1280, 900}, {1920, 1080}, {3840, 2160}} {
			shoot(t, ctx, size[0], size[1], scheme, fmt.Sprintf("ended-%d-%s", size[0], scheme))
			accessible(t, ctx, fmt.Sprintf("%d px, %s", size[0], scheme))
		}
	}
	// The first thing that the tab key reaches leads past the heading.
	must(t, ctx, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.KeyEvent(kb.Tab))
	if class := value[string](t, ctx, "document.activeElement.className"); class != "skip" {
		t.Errorf("the tab key reaches %q first", class)
	}
	seen.check(t, 20, 300)
}

// A run that asks each client once has that said first. What reports in all rounds would cost is folded, and is no chart.
func TestARunSaysHowOftenAClientReports(t *testing.T) {
	ctx, seen := start(t)
	d := train(t, "4", "--cohort", "6000")
	must(t, ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(d.url))
	until(t, ctx, `document.querySelector("#together details") !== null && document.querySelector("#together details").textContent.includes("for the 4 reports of a client together")`)
	if text := value[string](t, ctx, `document.querySelector("#together").innerText`); !strings.HasPrefix(text, "A client of this run reports once at most: local ε = 4.") || strings.Contains(text, "16") {
		t.Errorf("the promise begins with %s", text)
	}
	if !value[bool](t, ctx, `document.querySelector("#spent").offsetHeight === 0 && document.querySelectorAll("#spent canvas").length === 0`) {
		t.Error("a curve of what no client spends is shown")
	}
	shoot(t, ctx, 1280, 900, "light", "once-1280-light")
	accessible(t, ctx, "a run with one report each")
	seen.check(t, 1, 300)
}
