package browser

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var site = flag.String("site", "", "directory with the site of the documentation, as make site builds it")

// serve serves the site until the test ends.
func serve(t *testing.T) (address string) {
	t.Helper()
	if *site == "" {
		t.Skip("runs with -site")
	}
	s := httptest.NewServer(http.FileServer(http.Dir(*site)))
	t.Cleanup(s.Close)
	return s.URL
}

// The site loads nothing from elsewhere, fits a telephone, and is for everybody, in light and dark.
func TestTheSiteIsReadableEverywhere(t *testing.T) {
	address := serve(t)
	ctx, seen := start(t)
	for _, page := range []string{"index", "glossary", "comparison", "own-model", "threat-model", "accounting", "results/training", "api-python"} {
		must(t, ctx, chromedp.Navigate(address+"/"+page+".html"))
		name := strings.ReplaceAll(page, "/", "-")
		shoot(t, ctx, 360, 800, "light", "site-"+name+"-360-light")
		accessible(t, ctx, page+" in light")
		shoot(t, ctx, 1280, 800, "dark", "site-"+name+"-1280-dark")
		accessible(t, ctx, page+" in dark")
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

func TestLighthouseFindsTheSiteAccessible(t *testing.T) {
	t.Logf("the start page has %d bytes", light(t, serve(t)+"/index.html"))
}
