package laboratory

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// page is docs/compare-your-mechanism.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/compare-your-mechanism.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block finds what a test runs on the page: the text above, which names a file of Go or CSV, the language and the code.
func block(test string) *regexp.Regexp {
	return regexp.MustCompile("(?m)((?:^.+\n)*)\n<!-- run by " + test + " -->\n```([a-z]+)\n((?s:.*?))^```$")
}

// A researcher types what the page says, in a module of their own, and the mechanism is in the records and in the picture.
func TestAMechanismOfYourOwnIsCompared(t *testing.T) {
	if !*long {
		t.Skip("builds the laboratory anew and trains; runs with -long")
	}
	clone, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	compare := filepath.Join(dir, "compare")
	if err := errors.Join(os.Symlink(clone, filepath.Join(dir, "hushgrad")), os.MkdirAll(filepath.Join(compare, "mine"), 0o700)); err != nil {
		t.Fatal(err)
	}
	files, commands := 0, 0
	for _, b := range block("TestAMechanismOfYourOwnIsCompared").FindAllStringSubmatch(page(t), -1) {
		if b[2] == "go" {
			name := regexp.MustCompile("^`([a-z/]+\\.go)` ").FindStringSubmatch(b[1])
			if name == nil {
				t.Fatalf("the page does not say which file this is: %.60q", b[3])
			}
			if err := os.WriteFile(filepath.Join(compare, name[1]), []byte(b[3]), 0o600); err != nil {
				t.Fatal(err)
			}
			files++
			continue
		}
		commands++
		c := exec.CommandContext(t.Context(), "sh", "-euc", b[3])
		// The clone is at another path each time. Without paths in it, what was built before is found again.
		c.Dir, c.Env = compare, append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", b[3], err, out)
		}
	}
	if files != 2 || commands != 2 {
		t.Errorf("the page has %d files and %d blocks of commands", files, commands)
	}
	for _, name := range []string{"fig8", "accuracy", "liars"} {
		record, err := experiment.ReadRecord(filepath.Join(compare, "out", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(record.Rows, func(row map[string]any) bool { return row["mechanism"] == "mine:sparsity=s" }) || !strings.HasPrefix(record.Command, "go run . "+name) {
			t.Errorf("the record of %s is without the mechanism: %s, %d rows", name, record.Command, len(record.Rows))
		}
		picture, err := os.ReadFile(filepath.Join(compare, "out", name+".svg"))
		if err != nil || !strings.Contains(string(picture), "mine:sparsity=s") {
			t.Errorf("the picture of %s is without the mechanism, %v", name, err)
		}
	}
}

// written writes the page's CSV of a test into a folder, which becomes the working directory, and runs the command below it.
func written(t *testing.T, test, file string) (stdout string) {
	t.Helper()
	blocks := block(test).FindAllStringSubmatch(page(t), -1)
	if len(blocks) != 2 || blocks[0][2] != "csv" || blocks[1][2] != "sh" {
		t.Fatalf("the page has %d blocks of %s", len(blocks), test)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile(file, []byte(blocks[0][3]), 0o600); err != nil {
		t.Fatal(err)
	}
	args, ok := strings.CutPrefix(strings.TrimSpace(blocks[1][3]), "go run ./bench ")
	if !ok {
		t.Fatalf("the page has the command %s", blocks[1][3])
	}
	var out strings.Builder
	if err := commandOf(experiments...).run(t.Context(), strings.Fields(args), command.Streams{Out: &out, Err: t.Output()}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCurvesOfAFileAreDrawn(t *testing.T) {
	out := written(t, "TestCurvesOfAFileAreDrawn", "curves.csv")
	picture, err := os.ReadFile("out/fig4-wang.svg")
	if err != nil || strings.Count(string(picture), ">theirs<") != 1 || !strings.Contains(out, `beside ours: ["theirs"]`) {
		t.Errorf("the picture is without the curve, %v:\n%s", err, out)
	}
}

func TestHeteroTakesNumbersOfOnesOwn(t *testing.T) {
	out := written(t, "TestHeteroTakesNumbersOfOnesOwn", "values.csv")
	if !strings.Contains(out, "3 clients, a mean") || !strings.Contains(out, "0.5 ") || !strings.Contains(out, "saturating") {
		t.Errorf("printed\n%s", out)
	}
}

func TestSparVecSumCountsItemsOfOnesOwn(t *testing.T) {
	out := written(t, "TestSparVecSumCountsItemsOfOnesOwn", "items.csv")
	if !strings.Contains(out, "2 clients, 2 items") || !regexp.MustCompile(`(?m)^apple +2 `).MatchString(out) {
		t.Errorf("printed\n%s", out)
	}
}

// A file of curves that cannot be drawn is an error that says where.
func TestBadCurvesAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "curve,x,y",
		"x,y\n1,2\n":                     "curve,x,y",
		"curve,x,y\n":                    "a line below",
		"curve,x,y\na,1,z\n":             "line 2",
		"curve,x,y\n,1,2\n":              "line 2",
		"curve,x,y,panel\na,1,2,0\n":     "line 2",
		"curve,x,y,panel\na,1,2,2\n":     "1 panels",
		"curve,x,y\n\"true, P_t\",1,2\n": "another name",
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("curves.csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := commandOf(experiments...).run(t.Context(), []string{"fig4-wang", "--curves", "curves.csv", "--out", "out"}, command.Streams{Out: t.Output(), Err: t.Output()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, args := range [][]string{{"fig4-wang", "--curves", "c.csv"}, {"hetero", "--curves", "curves.csv", "--out", "out"}} {
		if err := os.WriteFile("curves.csv", []byte("curve,x,y\na,1,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := commandOf(experiments...).run(t.Context(), args, command.Streams{Out: t.Output(), Err: t.Output()}); err == nil || !strings.Contains(err.Error(), "--curves") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// A curve is in the panel that its points name, or in all.
func TestCurvesAreInTheirPanels(t *testing.T) {
	r := &experiment.Result{Columns: []string{"a"}, Plot: &figure.Figure{Panels: make([]figure.Panel, 2)}}
	if err := beside(r, []curvePoint{{"all", 0, 1, 2}, {"second", 2, 3, 4}, {"all", 0, 5, 6}}, "file"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 2} {
		series := r.Plot.Panels[i].Series
		if len(series) != want || series[0].Name != "all" || !slices.Equal(series[0].X, []float64{1, 5}) || !slices.Equal(series[0].Y, []float64{2, 6}) {
			t.Errorf("panel %d has %+v", i+1, series)
		}
	}
	if len(r.Notes) != 1 {
		t.Errorf("notes %q", r.Notes)
	}
}
