package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// image finds a picture on a page: its text and its file.
var image = regexp.MustCompile(`!\[([^\]]*)\]\(([^)\s]+)\)`)

// made renders all pages, and returns the pictures.
func made(t *testing.T) *maker {
	t.Helper()
	paths, err := Paths(root)
	if err != nil {
		t.Fatal(err)
	}
	m := newMaker(root)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = m.render(string(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// A page has at most 200 kB of pictures, and each says in words what is to be seen.
func TestPicturesAreSmallAndHaveText(t *testing.T) {
	const most = 200_000
	paths, err := Paths(root)
	if err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum, seen := int64(0), map[string]bool{}
		for _, m := range image.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[2], "://") || seen[m[2]] {
				continue
			}
			seen[m[2]] = true
			file, err := os.Stat(filepath.Join(filepath.Dir(path), m[2]))
			if err != nil {
				t.Error(err)
				continue
			}
			pictures++
			sum += file.Size()
			if len(m[1]) < 30 {
				t.Errorf("%s: the text of %s is %q", path, m[2], m[1])
			}
		}
		if sum > most {
			t.Errorf("%s has %d bytes of pictures, at most %d", path, sum, most)
		}
	}
	if pictures < 25 {
		t.Errorf("the pages have %d pictures", pictures)
	}
}

// Every figure of the papers is on a page, made of its record.
func TestEveryFigureOfThePapersIsOnAPage(t *testing.T) {
	m := made(t)
	for _, name := range []string{
		"fig2", "fig4-wang", "fig5-wang", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13", "fig14", "fig15", "fig16",
		"fig3", "fig4", "fig5", "reals", "fig4-pckv", "fig6-pckv", "fig7-pckv", "fig8-pckv", "fig9-pckv", "fig10-pckv", "table4-hetero", "table5-hetero",
	} {
		if m.figures[name] == nil {
			t.Errorf("no page has %s", name)
		}
	}
}

// What is proved, what is simulated, what is neither and other readings never look alike, whatever the picture.
func TestKindsOfCurvesLookDifferent(t *testing.T) {
	looks := map[string]kind{}
	for k := simulated; k <= printed; k++ {
		look := fmt.Sprint(k.style(), k == reading) // a reading has the colour of what it is a reading of
		if other, ok := looks[look]; ok {
			t.Errorf("kind %d looks like kind %d", k, other)
		}
		looks[look] = k
	}
	solid, open := 0, 0
	for name, f := range made(t).figures {
		if err := paint.Validate(f); err != nil { // two names that look alike
			t.Errorf("%s: %v", name, err)
		}
		if !f.Narrow {
			t.Errorf("%s is wide", name)
		}
		for _, p := range f.Panels {
			for _, s := range p.Series {
				proof := strings.Contains(s.Name, "(proved)") || strings.HasSuffix(s.Name, ", theory") || slices.Contains([]string{"fig4-wang", "fig5-wang", "fig4-pckv"}, name)
				if proof != (s.Style == figure.Proved) {
					t.Errorf("%s: %s has the style %d", name, s.Name, s.Style)
				}
				if doubt := strings.Contains(s.Name, "(conjectural)") || strings.Contains(s.Name, "(not a bound)"); doubt && (s.Style != figure.Dashed || s.Of != "") {
					t.Errorf("%s: %s has the style %d of %q", name, s.Name, s.Style, s.Of)
				}
				if of, _, other := strings.Cut(s.Name, ", "); other && strings.Contains(name, "fig") && s.Of == of && s.Style != figure.Dashed && s.Style != figure.Proved {
					t.Errorf("%s: %s looks like %s", name, s.Name, of)
				}
				if s.Style == figure.Proved {
					solid++
				} else if s.Style == figure.Dashed {
					open++
				}
			}
		}
	}
	if solid < 20 || open < 20 {
		t.Errorf("%d curves are proved and %d dashed", solid, open)
	}
}

// A picture that is not its record's is an error, and is made again.
func TestPicturesAreTheirRecords(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "docs", "results")
	record := `{"name": "fig4-wang", "command": "go run ./bench fig4-wang", "commit": "0123456789", "go": "go1", "machine": "m", "date": "2026-01-02T03:04:05Z", "quick": false,
 "rows": [{"slots": 18, "true": 0.07, "opposite": 0.05, "false": 0.06}, {"slots": 20, "true": 0.08, "opposite": null, "false": 0.06}], "verdicts": [], "notes": []}`
	page := "text\n\n<!-- picture rates rates fig4-wang/fig4-wang.json -->\n<!-- end -->\n"
	if err := os.MkdirAll(filepath.Join(place, "fig4-wang"), 0o700); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"README.md": page, "docs/page.md": "text\n", "docs/results/page.md": page, "docs/results/fig4-wang/fig4-wang.json": record}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(name, text)
	}
	changed, err := Write(t.Context(), dir)
	if err != nil || len(changed) != 3 {
		t.Fatalf("%v, %v", changed, err)
	}
	for name, link := range map[string]string{"docs/results/page.md": "rates.svg", "README.md": "docs/results/rates.svg"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if want := "Last values from below: opposite, P_o 0.05 at 18; false, P_f 0.06; true, P_t 0.08.](" + link + ")"; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the page is\n%s\nwant %s", text, want)
		}
	}
	if err := Check(dir); err != nil {
		t.Error(err)
	}
	write("docs/results/fig4-wang/fig4-wang.json", strings.Replace(record, "0.07", "0.075", 1))
	if err := Check(dir); err == nil || !strings.Contains(err.Error(), "rates.svg") {
		t.Errorf("a picture of another record: %v", err)
	}
	for _, wrong := range []string{"no-form fig4-wang/fig4-wang.json", "slots fig4-wang/fig4-wang.json slots=18", "rates none.json"} {
		write("docs/results/page.md", strings.Replace(page, "rates fig4-wang/fig4-wang.json", wrong, 1))
		if err := Check(dir); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
}

// A level is the largest number of its column, all along the axis.
func TestLevelsAreAllAlongTheAxis(t *testing.T) {
	rows := []map[string]any{
		{"trust": "nobody", "budget": 1., "accuracy": .8, "low": .7, "high": .9, "without_privacy": .95, "zero_shot": .5},
		{"trust": "shuffler", "budget": .5, "accuracy": .9, "low": .8, "high": 1., "without_privacy": .96, "zero_shot": .5},
	}
	fig, _, err := forms["federation"].picture(&experiment.Record{Rows: rows}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range fig.Panels[0].Series {
		if s.Name == "no privacy" && (!slices.Equal(s.X, []float64{.5, 1}) || !slices.Equal(s.Y, []float64{.96, .96})) {
			t.Errorf("%+v", s)
		}
	}
	if len(fig.Panels[0].Series) != 4 {
		t.Errorf("%+v", fig.Panels[0])
	}
}
