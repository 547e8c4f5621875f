package browser

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/klauspost/compress/gzhttp"
)

var site = flag.String("site", "", "directory with the site of the documentation, as make site builds it")

// serve serves the site until the test ends, with gzip, as hosts of static pages do.
func serve(t *testing.T) (address string) {
	t.Helper()
	if *site == "" {
		t.Skip("runs with -site")
	}
	s := httptest.NewServer(gzhttp.GzipHandler(http.FileServer(http.Dir(*site))))
	t.Cleanup(s.Close)
	return s.URL
}

// The site loads nothing from elsewhere, fits a telephone, and is for everybody, in light and dark.
func TestTheSiteIsReadableEverywhere(t *testing.T) {
	address := serve(t)
	ctx, seen := start(t)
	for _, page := range []string{"index", "glossary", "comparison", "own-model", "threat-model", "accounting", "results/training", "api-python", "api-python/rounds", "api-python/planning"} {
		for scheme, width := range map[string]int{"light": 360, "dark": 1280} {
			// The theme looks for light or dark when a page is loaded.
			must(t, ctx, screen(width, 800, scheme), chromedp.Navigate(address+"/"+page+".html"))
			shoot(t, ctx, width, 800, scheme, fmt.Sprintf("site-%s-%d-%s", strings.ReplaceAll(page, "/", "-"), width, scheme))
			accessible(t, ctx, page+" in "+scheme)
		}
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, url := range seen.foreign {
		t.Errorf("the site loads %s", url)
	}
	for _, e := range seen.errors {
		t.Errorf("the browser says: %s", e)
	}
}

// No picture of a page is cut at any width, nor is it scrolled. The letters of the first one keep a size at which
// they can be read: its smallest ones have 14 units.
func TestThePicturesOfTheSiteAreWhole(t *testing.T) {
	address := serve(t)
	ctx, _ := start(t)
	for _, page := range []string{"index", "glossary", "results/sparse-vectors", "results/demands"} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{360, 768, 1280, 1920} {
				name := fmt.Sprintf("pictures-%s-%d-%s", strings.ReplaceAll(page, "/", "-"), width, scheme)
				must(t, ctx, screen(width, 900, scheme), chromedp.Navigate(address+"/"+page+".html"))
				until(t, ctx, `[...document.querySelectorAll(".md-content img")].every((i) => { i.loading = "eager"; return i.complete; })`)
				cut := value[[]string](t, ctx, `(() => {
					const cut = [];
					if (!document.querySelector(".md-content img")) cut.push("there is no picture");
					for (const i of document.querySelectorAll(".md-content img")) {
						const box = i.getBoundingClientRect();
						if (!i.naturalWidth || box.width < 50) cut.push(i.src + " is not there");
						for (let around = i.parentElement; around; around = around.parentElement) {
							const whole = around.getBoundingClientRect();
							if (getComputedStyle(around).display === "inline") continue; // its box is a line's
							if (box.left < whole.left - 1 || box.right > whole.right + 1) cut.push(i.src + " is cut by " + around.tagName);
						}
					}
					return cut;
				})()`)
				if len(cut) > 0 {
					t.Errorf("%s: %q", name, cut)
				}
				if page == "index" {
					if letters := value[float64](t, ctx, `(() => { const i = document.querySelector(".md-content img"); return 14 * i.getBoundingClientRect().width / i.naturalWidth; })()`); letters < 9.5 {
						t.Errorf("%s: the letters of the first picture have %.1f px", name, letters)
					}
				}
				shoot(t, ctx, width, 900, scheme, name)
			}
		}
	}
}

// The pictures of results load when they come into view, in places that are kept free for them.
func TestThePicturesOfResultsLoadLazily(t *testing.T) {
	address := serve(t)
	ctx, _ := start(t)
	for page, least := range map[string]int{"sparse-vectors": 14, "sums": 4, "key-value": 6, "demands": 2, "training": 1} {
		must(t, ctx, screen(360, 800, "light"), chromedp.Navigate(address+"/results/"+page+".html"))
		if lazy := value[int](t, ctx, `[...document.querySelectorAll(".md-content img")].filter((i) => i.loading === "lazy" && i.width > 0 && i.height > i.width / 2).length`); lazy < least {
			t.Errorf("%s: %d pictures load lazily, want at least %d", page, lazy, least)
		}
	}
}

// The page that is read first has its styles, its search and the index of all pages with it.
func TestLighthouseFindsTheSiteAccessibleAndSmall(t *testing.T) {
	small(t, serve(t)+"/index.html")
}
