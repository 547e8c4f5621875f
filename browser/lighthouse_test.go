package browser

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var lighthouse = flag.String("lighthouse", "", "the program lighthouse of npm")

// most is what a page may weigh with all that it loads.
const most = 300_000

// audit is a part of what Lighthouse writes.
type audit struct {
	Title   string   `json:"title"`
	Score   *float64 `json:"score"`
	Details struct {
		Items json.RawMessage `json:"items"` // of a form for each audit
	} `json:"details"`
}

// light fails a page that Lighthouse gives less than 100 for accessibility. It returns the bytes that were
// transferred to show it.
func light(t *testing.T, url string) (bytes int) {
	t.Helper()
	if *lighthouse == "" {
		t.Skip("runs with -lighthouse")
	}
	report := filepath.Join(t.TempDir(), "report.json")
	// A page that is updated live is never idle.
	options := []string{url, "--quiet", "--output=json", "--output-path=" + report, "--max-wait-for-load=15000",
		"--only-categories=accessibility,performance", "--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage"}
	measure := func() (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		run := exec.CommandContext(ctx, *lighthouse, options...)
		run.Env = append(os.Environ(), "CHROME_PATH="+chromium(t))
		out, err := run.CombinedOutput()
		return string(out), err
	}
	out, err := measure()
	for left := 2; err != nil && left > 0 && strings.Contains(out, "run Lighthouse again"); left-- { // as on a machine that is busy
		out, err = measure()
	}
	if err != nil {
		t.Fatalf("lighthouse: %v\n%s", err, out)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Categories struct {
			Accessibility struct {
				Score  float64          `json:"score"`
				Audits []map[string]any `json:"auditRefs"`
			} `json:"accessibility"`
		} `json:"categories"`
		Audits map[string]audit `json:"audits"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	if score := found.Categories.Accessibility.Score; score != 1 {
		t.Errorf("%s: accessibility %v of 100", url, 100*score)
		for _, a := range found.Categories.Accessibility.Audits {
			id, _ := a["id"].(string)
			if score := found.Audits[id].Score; score != nil && *score < 1 {
				t.Errorf("%s: %s: %s", url, id, found.Audits[id].Title)
			}
		}
	}
	var items []struct {
		URL  string `json:"url"`
		Size int    `json:"transferSize"`
	}
	if err := json.Unmarshal(found.Audits["network-requests"].Details.Items, &items); err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if !strings.HasSuffix(i.URL, "/events") { // updates come for as long as somebody watches
			bytes += i.Size
		}
	}
	if len(items) < 2 || bytes < 1000 {
		t.Errorf("%s: Lighthouse saw %d requests of %d bytes", url, len(items), bytes)
	}
	return bytes
}

// small fails a page that Lighthouse finds not accessible, or that weighs more than most.
func small(t *testing.T, url string) {
	t.Helper()
	if bytes := light(t, url); bytes > most {
		t.Errorf("%s has %d bytes, want at most %d", url, bytes, most)
	} else {
		t.Logf("%s has %d bytes", url, bytes)
	}
}

func TestLighthouseFindsTheDashboardAccessibleAndSmall(t *testing.T) {
	if *lighthouse == "" {
		t.Skip("runs with -lighthouse")
	}
	small(t, train(t, "1000").url)
}
