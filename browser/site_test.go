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
	for _, page := range []string{"index", "glossary", "comparison", "own-model", "threat-model", "accounting", "results/training", "api-python"} {
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

// The page that is read first has its styles, its search and the index of all pages with it.
func TestLighthouseFindsTheSiteAccessibleAndSmall(t *testing.T) {
	small(t, serve(t)+"/index.html")
}
