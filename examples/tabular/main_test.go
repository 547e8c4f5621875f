package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// Each kind of target is learnt under privacy, and leaves its files. The runs are seeded, so that
// the scores are not chance: see each least score.
func TestEveryKindOfTargetIsLearnt(t *testing.T) {
	if !*long {
		t.Skip("three runs of 30 rounds")
	}
	for _, c := range []struct {
		target, name, picture string
		least                 float64
		coefficients          [2]int
	}{
		{"income=low|high", "logistic regression", "accuracy.png", 0.83, [2]int{8, 4}},
		{"wage=0..100", "linear regression", "r2.png", 0.6, [2]int{9, 4}},
		{"sector=private|public|self-employed|none", "softmax regression", "accuracy.png", 0.6, [2]int{4, 7}},
	} {
		dir := t.TempDir()
		var out bytes.Buffer
		args := []string{"--target", c.target, "--seed", "7", "--clients", "20000", "--rounds", "12", "--budget", "2", "--explain", "--out", dir}
		if err := tabular(t.Context(), args, command.Streams{Out: &out, Err: io.Discard}); err != nil {
			t.Fatalf("%s: %v", c.target, err)
		}
		text := out.String()
		for _, want := range []string{c.name, "plan: ", "privacy            none: the seed repeats the noise", "upload per report"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the output lacks %q:\n%s", c.target, want, text)
			}
		}
		var summary struct {
			Score     float64  `json:"test_score"`
			Commonest *float64 `json:"commonest_class"`
			Central   *float64 `json:"epsilon_central"`
			Seed      uint64   `json:"seed"`
		}
		raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err == nil {
			err = json.Unmarshal(raw, &summary)
		}
		if err != nil || summary.Score < c.least || summary.Central != nil || summary.Seed != 7 {
			t.Errorf("%s: %+v, %v, want a score of at least %g, no ε and the seed", c.target, summary, err, c.least)
		}
		if common := summary.Commonest; (common == nil) != (c.picture == "r2.png") || common != nil &&
			(*common >= summary.Score || *common < 1/float64(strings.Count(c.target, "|")+1) || !strings.Contains(text, fmt.Sprintf("(the commonest class alone has %.4f)", *common))) {
			t.Errorf("%s: the commonest class has %v:\n%s", c.target, common, text)
		}
		f, err := os.Open(filepath.Join(dir, "coefficients.csv"))
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(f).ReadAll()
		if f.Close(); err != nil || len(records) != c.coefficients[0]+1 || len(records[0]) != c.coefficients[1] || !slices.ContainsFunc(records, func(r []string) bool { return r[0] == "bias" }) {
			t.Errorf("%s: coefficients %v, %v", c.target, records, err)
		}
		picture, err := os.ReadFile(filepath.Join(dir, c.picture))
		if err == nil {
			_, err = png.Decode(bytes.NewReader(picture))
		}
		if err != nil {
			t.Errorf("%s: %v", c.target, err)
		}
	}
}

// The generated table is learnt without a flag. docs/tables.md has the command.
func TestTheGeneratedTableIsLearnt(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	if err := tabular(t.Context(), []string{"--out", dir}, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "a generated table") || !strings.Contains(text, "local privacy      ε = 4,") {
		t.Errorf("the output is\n%s", text)
	}
	theFieldsAreOnThePage(t, filepath.Join(dir, "summary.json"))
}

// theFieldsAreOnThePage compares the fields of a summary with those that docs/tables.md explains.
func theFieldsAreOnThePage(t *testing.T, summary string) {
	raw, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "The fields of `summary.json`")
	table, _, _ = strings.Cut(table, "\n## ")
	explained := map[string]bool{}
	for line := range strings.Lines(table) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cell, -1) {
			explained[name[1]] = true
		}
	}
	for name := range fields {
		if !explained[name] {
			t.Errorf("docs/tables.md does not explain %s", name)
		}
		delete(explained, name)
	}
	if len(explained) > 0 {
		t.Errorf("docs/tables.md explains %v, which no summary has", explained)
	}
}

// A run without a seed states what it promises, and a file's rows are its clients. docs/tables.md has
// the command.
func TestAFileIsLearnt(t *testing.T) {
	var table strings.Builder
	table.WriteString("age,sector,income\n")
	for i := range 2500 {
		fmt.Fprintf(&table, "%d,%s,%s\n", 17+i%74, []string{"public", "private", "none"}[i%3], []string{"low", "high"}[i%74/37])
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := []string{"--data", path, "--columns", "age=17..90,sector=public|private|none", "--target", "income=low|high", "--trust", "shuffler", "--budget", "8", "--rounds", "26"}
	if err := tabular(t.Context(), append(args, "--mechanism", "coco"), command.Streams{Out: &out, Err: io.Discard}); err != nil { // one to plan, not all
		t.Fatal(err)
	}
	ignored := append(args[:len(args)-6:len(args)-6], "--mechanism", "none", "--explain")
	if err := tabular(t.Context(), ignored, command.Streams{Out: io.Discard, Err: io.Discard}); err == nil || !strings.Contains(err.Error(), "explain") {
		t.Errorf("--explain without privacy: %v, want an error", err)
	}
	for _, want := range []string{"2000 rows of " + path, "500 for testing", "rounds of ", "the first 12 of 26 rounds learn", "local privacy      ε = ", "central privacy    ε = ", "No shuffler runs here"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := tabular(t.Context(), append(args, "--trust", "nobody"), command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "26 rounds of 76 clients") || !strings.Contains(text, "local privacy      ε = 8,") || !strings.Contains(text, "This example simulates all clients") || strings.Contains(text, "shuffles") {
		t.Errorf("where nobody is trusted:\n%s", text)
	}
}

// The chances of a model of one column are about as good as without privacy: its rounds do not clip so short that they end at another model.
// Chances of one half have a loss of 0.69, and with a short clip the loss was above 1.
func TestChancesOfOneColumnAreGood(t *testing.T) {
	for _, trust := range []string{"nobody", "shuffler"} {
		dir := t.TempDir()
		args := []string{"--columns", "age=17..90", "--clients", "20000", "--trust", trust, "--rounds", "30", "--mechanism", "coco", "--out", dir, "--seed", "1"}
		if err := tabular(t.Context(), args, command.Streams{Out: io.Discard, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, "history.csv"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(lines[0], "loss")
		if loss, err := strconv.ParseFloat(lines[len(lines)-1][at], 64); err != nil || loss > 0.66 {
			t.Errorf("trust %s: the loss is %g, %v", trust, loss, err)
		}
	}
}

// Help lists the mechanisms that the example has, and no sums. It shows no default number of clients, which depends on the table.
func TestHelpListsWhatThereIs(t *testing.T) {
	var help strings.Builder
	if err := tabular(t.Context(), []string{"--help"}, command.Streams{Out: &help, Err: io.Discard}); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	if text := help.String(); strings.Contains(text, "sumdp") || strings.Contains(text, "own-site") || !strings.Contains(text, "signsketch or none") || strings.Contains(text, "default 60000") {
		t.Errorf("help is %s", text)
	}
}

func TestWrongCallsAreRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"--columns: got":       {"--data", "people.csv", "--target", "class=a|b"},
		"--target: got":        {"--data", "people.csv", "--columns", "age=1..2"},
		"trust the server":     {"--mechanism", "sumdp"},
		"no site has many":     {"--trust", "own-site"},
		"two-servers, see":     {"--trust", "friends"},
		"--seed: got":          {"--trust", "two-servers", "--seed", "5"},
		"--hushgrad: got":      {"--hushgrad", "hushgrad"},
		"needs --trust":        {"--mechanism", "gaussian-shares"},
		"--expand: got":        {"--expand", "all"},
		"--predict: got":       {"--predict", "new.csv"},
		"--id: got":            {"--id", "customer"},
		`"height"`:             {"--columns", "height=0..3"},
		`"color"`:              {"--target", "color=red|blue"},
		"--clients: got 1":     {"--clients", "1"},
		"--budget: got":        {"--budget", "-1"},
		"--clients: got 0":     {"--clients", "0"},
		"the hushgrad program": {"--trust", "two-servers", "--hushgrad", "absent"},
	} {
		err := tabular(t.Context(), args, command.Streams{Out: io.Discard, Err: io.Discard})
		var p *fl.ParamError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
