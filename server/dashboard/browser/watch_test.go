package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed testdata/axe/axe.min.js
var axe string

// must runs actions.
func must(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// got runs an action that returns a value.
func got[T any](t *testing.T, ctx context.Context, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// value returns what an expression has in the page.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	return got(t, ctx, chromedp.Evaluate[T](expression))
}

// until waits for an expression to be true in the page.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if value[bool](t, ctx, expression) {
			return
		}
	}
	t.Fatalf("%s is not true; the page says:\n%s", expression, value[string](t, ctx, "document.body.innerText"))
}

// accessible reports what axe finds, whatever it calls it.
func accessible(t *testing.T, ctx context.Context, when string) {
	t.Helper()
	type result struct {
		Violations []struct {
			ID    string `json:"id"`
			Help  string `json:"help"`
			Nodes []struct {
				HTML    string `json:"html"`
				Summary string `json:"failureSummary"`
			} `json:"nodes"`
		} `json:"violations"`
		Passed int `json:"passed"`
	}
	must(t, ctx, chromedp.Evaluate[chromedp.Void](axe))
	found := got(t, ctx, chromedp.Evaluate[result](`axe.run().then((r) => ({ violations: r.violations, passed: r.passes.length }))`, chromedp.EvalAwaitPromise))
	if found.Passed < 10 {
		t.Errorf("%s: axe has tested %d rules", when, found.Passed)
	}
	for _, f := range found.Violations {
		text, _ := json.Marshal(f.Nodes)
		t.Errorf("%s: %s: %s: %.600s", when, f.ID, f.Help, text)
	}
}

// screen sets the size of the screen, and light or dark.
func screen(width, height int, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}); err != nil {
			return err
		}
		return chromedp.Do(ctx, chromedp.EmulateViewport(int64(width), int64(height)))
	})
}

// shoot writes a picture of the page and checks that it needs no scrolling to the side.
func shoot(t *testing.T, ctx context.Context, width, height int, scheme, name string) {
	t.Helper()
	must(t, ctx, screen(width, height, scheme), chromedp.Sleep(300*time.Millisecond)) // until it is drawn: a picture that is too early is only ugly
	picture := got(t, ctx, chromedp.FullScreenshot(100))
	if wide := value[int](t, ctx, "document.documentElement.scrollWidth"); wide > width {
		t.Errorf("%s: the page is %d px wide on %d", name, wide, width)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A training run is watched from a round that is open to the last one. The page shows it, without an error,
// for everybody, on small and large screens, in light and dark. docs/dashboard.md has the command.
func TestATrainingRunIsWatchedToItsEnd(t *testing.T) {
	ctx, seen := start(t)
	// Long enough for a browser to load a page meanwhile.
	const rounds = "60"
	d := train(t, rounds)
	must(t, ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(d.url))
	until(t, ctx, `document.querySelector("#link").textContent === "Live"`)
	until(t, ctx, `document.querySelectorAll("#open article progress").length > 0`)
	until(t, ctx, `document.querySelectorAll("#training canvas").length === 3`)
	select {
	case <-d.ended:
		t.Error("the run has ended before the page has shown any of it")
	default:
	}
	accessible(t, ctx, "during the run")
	shoot(t, ctx, 1280, 900, "light", "running-1280-light")
	until(t, ctx, `document.querySelector("#past tr th") && document.querySelector("#news").textContent.startsWith("Round mnist-")`)
	until(t, ctx, `document.querySelector("#together dl") !== null`)

	until(t, ctx, `document.querySelector("#link").textContent.startsWith("Connection lost")`)
	<-d.ended
	if d.err != nil {
		t.Fatalf("the demo: %v\n%s", d.err, &d.out)
	}
	until(t, ctx, `document.querySelector("#training tbody th").textContent === "`+rounds+`"`)
	if n := value[int](t, ctx, `document.querySelectorAll("#past tr").length`); fmt.Sprint(n) != rounds {
		t.Errorf("%d rounds are on the page, want %s", n, rounds)
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
		for _, size := range [][2]int{{360, 740}, {1280, 900}, {3840, 2160}} {
			shoot(t, ctx, size[0], size[1], scheme, fmt.Sprintf("ended-%d-%s", size[0], scheme))
			accessible(t, ctx, fmt.Sprintf("%d px, %s", size[0], scheme))
		}
	}
	// The first thing that the tab key reaches leads past the heading.
	must(t, ctx, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.KeyEvent(kb.Tab))
	if class := value[string](t, ctx, "document.activeElement.className"); class != "skip" {
		t.Errorf("the tab key reaches %q first", class)
	}
	seen.check(t)
}
