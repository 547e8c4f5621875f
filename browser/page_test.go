package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
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

// mostTall is how tall a page may be, in px: nobody finds anything on a taller one, and Chromium refuses a picture of it.
const mostTall = 100_000

// shoot writes a picture of the page, and checks that it is not too tall and needs no scrolling to the side.
func shoot(t *testing.T, ctx context.Context, width, height int, scheme, name string) {
	t.Helper()
	must(t, ctx, screen(width, height, scheme), chromedp.Sleep(300*time.Millisecond)) // until it is drawn: a picture that is too early is only ugly
	if tall := value[int](t, ctx, "document.documentElement.scrollHeight"); tall > mostTall {
		t.Fatalf("%s: the page is %d px tall, above %d: make it several pages", name, tall, mostTall)
	}
	picture := got(t, ctx, chromedp.FullScreenshot(100))
	if wide := value[int](t, ctx, "document.documentElement.scrollWidth"); wide > width {
		t.Errorf("%s: the page is %d px wide on %d", name, wide, width)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// inModule runs a command in the directory of hushgrad's module.
func inModule(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = ".."
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
