package pages

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

const root = "../.."

// The pages are what the results give. go run ./bench pages makes them so.
func TestPagesAreWhatTheResultsGive(t *testing.T) {
	if err := Check(root); err != nil {
		t.Error(err)
	}
}

// Tables of measured numbers are made from results and not typed.
func TestTablesAreNotTyped(t *testing.T) {
	long, err := filepath.Glob(filepath.Join(root, results, "*.md"))
	if err != nil || len(long) < 5 {
		t.Fatalf("%d pages of results, %v", len(long), err)
	}
	for _, page := range []string{"README.md", "docs/results.md", "docs/training.md", "docs/threat-model.md", "docs/speed.md"} {
		long = append(long, filepath.Join(root, page))
	}
	for _, page := range long {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		rest := tableMark.ReplaceAllString(string(text), "")
		for _, line := range regexp.MustCompile(`(?m)^\|.*\d[.,]?\d.*\|$`).FindAllString(rest, -1) {
			t.Errorf("%s has a typed table line: %s", page, line)
		}
	}
}

// Every result says how it was made, by a command that anybody can give, at a commit.
func TestResultsSayWhereTheyComeFrom(t *testing.T) {
	var text strings.Builder
	paths, err := Paths(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(page)
	}
	n := 0
	check := func(path, name string) {
		n++
		r, err := experiment.ReadRecord(path)
		if err != nil {
			t.Error(err)
			return
		}
		settings, ours := "", false
		for _, command := range []string{"go run ./bench " + r.Name, "python -m hushgrad.bench " + r.Name, "cd bench/" + r.Name + " && go run ."} {
			if !ours {
				settings, ours = strings.CutPrefix(r.Command, command)
			}
		}
		if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(r.Commit) || r.Date.IsZero() || r.Machine == "" || !ours || strings.Contains(settings, "/") {
			t.Errorf("%s: %q at %q, %v, on %q", name, r.Command, r.Commit, r.Date, r.Machine)
		}
		if !strings.Contains(text.String(), name) {
			t.Errorf("no page uses %s", name)
		}
	}
	err = filepath.WalkDir(filepath.Join(root, results), func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".json" {
			name := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
			check(path, name)
		}
		return err
	})
	if err != nil || n < 10 {
		t.Errorf("%d results, %v", n, err)
	}
}

const small = `{"name": "attack", "command": "go run ./bench attack", "commit": "0123456789", "go": "go1", "machine": "m", "date": "2026-01-02T03:04:05Z", "quick": %QUICK%,
"rows": [{"reports": 1, "share": 0.438}, {"reports": 2, "share": 0.5}], "verdicts": [{"claim": "a | b", "holds": %HOLDS%, "detail": "d"}], "notes": []}`

// module writes a module with one page and one result.
func module(t *testing.T, page, quick string) string {
	t.Helper()
	dir, holds := t.TempDir(), "true"
	if quick == "true" {
		holds = `null, "suggests": false`
	}
	for path, text := range map[string]string{
		"README.md": page, "docs/other.md": "nothing", results + "/attack/attack.json": strings.NewReplacer("%QUICK%", quick, "%HOLDS%", holds).Replace(small),
		results + "/demo/output.txt": "go run ./x at 0123456, 2026-01-02, on m\nfirst\n  30 a\nlast\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Marks get what the results say; a page that differs from it is named with its line.
func TestMarksAreFilled(t *testing.T) {
	const page = "a\n<!-- table verdicts attack/attack.json -->\n| old |\n<!-- end -->\n" +
		"It is <!-- value attack/attack.json share percent reports=1 -->99 %<!-- end -->, <!-- value attack/attack.json share %.2f reports=2 --><!-- end -->.\n" +
		"<!-- lines demo/output.txt 30 -->\n<!-- end -->\n"
	for quick, holds := range map[string]string{"false": "yes", "true": "quick run: no"} {
		dir := module(t, page, quick)
		if err := Check(dir); err == nil || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("Check before: %v", err)
		}
		changed, err := Write(t.Context(), dir)
		if err != nil || len(changed) != 1 {
			t.Fatalf("%q, %v", changed, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`| a \| b | ` + holds + ` | d |`, "`go run ./bench attack` at 0123456, 2026-01-02, on m.", "-->44 %<", "-->0.50<", "```\n  30 a\nlast\n```", "`go run ./x` at 0123456"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if strings.Contains(string(text), "A quick run") != (quick == "true") || strings.Contains(string(text), "| old |") {
			t.Errorf("quick %s:\n%s", quick, text)
		}
		if err := Check(dir); err != nil {
			t.Errorf("Check after: %v", err)
		}
	}
}

func TestMarksThatCannotBeFilledAreErrors(t *testing.T) {
	for name, page := range map[string]string{
		"no such table":  "<!-- table magic attack/attack.json -->\n<!-- end -->\n",
		"no such result": "<!-- table verdicts attack/no.json -->\n<!-- end -->\n",
		"no result":      "<!-- table verdicts -->\n<!-- end -->\n",
		"wrong columns":  "<!-- table curve attack/attack.json -->\n<!-- end -->\n<!-- table attack attack/attack.json -->\n<!-- end -->\n",
		"two rows":       "<!-- value attack/attack.json share percent --><!-- end -->",
		"no rows":        "<!-- value attack/attack.json share percent reports=3 --><!-- end -->",
		"no column":      "<!-- value attack/attack.json part percent reports=1 --><!-- end -->",
		"no line":        "<!-- lines demo/output.txt 31 -->\n<!-- end -->\n",
		"no file":        "<!-- lines demo/no.txt 30 -->\n<!-- end -->\n",
		"no end":         "<!-- table verdicts attack/attack.json -->\n",
	} {
		dir := module(t, page, "false")
		if _, err := Write(t.Context(), dir); err == nil {
			t.Errorf("%s: no error", name)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "README.md")); err != nil || string(text) != page {
			t.Errorf("%s: the page became %q, %v", name, text, err)
		}
	}
	if err := Check(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no pages: %v", err)
	}
}
