package pages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// anyMark is the beginning of what is made from results.
var anyMark = regexp.MustCompile("<!-- (table|lines|film|value|picture) ")

// results is where the results are, below the root of the module.
const results = "docs/results"

var (
	tableMark   = regexp.MustCompile(`(?ms)^(<!-- table (\S+)((?: \S+)*) -->\n).*?^<!-- end -->$`)
	linesMark   = regexp.MustCompile(`(?ms)^(<!-- lines (\S+) (\S+) -->\n).*?^<!-- end -->$`)
	filmMark    = regexp.MustCompile(`(?ms)^(<!-- film (\S+) -->\n).*?^<!-- end -->$`)
	pictureMark = regexp.MustCompile(`(?ms)^(<!-- picture (\S+) (\S+)((?: \S+)+) -->\n).*?^<!-- end -->$`)
	valueMark   = regexp.MustCompile(`(<!-- value (\S+) (\S+) (\S+)((?: \S+=\S+)*) -->)[^\n]*?<!-- end -->`)
)

// Paths returns the pages of a module, below its root.
func Paths(root string) ([]string, error) {
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) == 0 {
		return nil, fmt.Errorf("pages: no docs/*.md below %s: %w", root, errors.Join(err, os.ErrNotExist))
	}
	long, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(results), "*.md"))
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return slices.Concat([]string{filepath.Join(root, "README.md")}, docs, long), nil
}

// Write makes the tables, values and pictures of all pages again and returns the files that changed.
func Write(ctx context.Context, root string) (changed []string, err error) {
	err = each(root, func(path, before, after string) error {
		if before == after {
			return nil
		}
		changed = append(changed, path)
		return command.Replace(ctx, path, func(w io.Writer) error {
			_, err := io.WriteString(w, after)
			return err
		})
	})
	return changed, err
}

// Check returns an error that names the first line of a page that differs from what the results
// give.
func Check(root string) error {
	return each(root, func(path, before, after string) error {
		if before == after {
			return nil
		}
		have, want := strings.Split(before, "\n"), strings.Split(after, "\n")
		i := 0
		for i < min(len(have), len(want)) && have[i] == want[i] {
			i++
		}
		line := func(lines []string) string { return append(lines, "")[min(i, len(lines))] }
		return fmt.Errorf("pages: %s, line %d, is\n%s\nand the results give\n%s\nrun go run ./bench pages", path, i+1, line(have), line(want))
	})
}

// each calls visit with every page and every picture as it is and as the results make it.
func each(root string, visit func(path, before, after string) error) error {
	paths, err := Paths(root)
	if err != nil {
		return err
	}
	type page struct{ before, after string }
	pages, maker := make([]page, len(paths)), newMaker(root)
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("pages: %w", err)
		}
		if maker.beside, err = filepath.Rel(filepath.Dir(path), maker.dir); err != nil {
			return fmt.Errorf("pages: %w", err)
		}
		after, err := maker.render(string(text))
		if err != nil {
			return fmt.Errorf("pages: %s: %w", path, err)
		}
		pages[i] = page{string(text), after}
	}
	for _, name := range slices.Sorted(maps.Keys(maker.pictures)) {
		path := filepath.Join(maker.dir, name)
		before, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("pages: %w", err)
		}
		paths, pages = append(paths, path), append(pages, page{string(before), maker.pictures[name]})
	}
	for i, path := range paths { // none, when one cannot be made
		if err := visit(path, pages[i].before, pages[i].after); err != nil {
			return err
		}
	}
	return nil
}

// maker makes tables, values and pictures from results, each of which it reads once.
type maker struct {
	dir      string
	beside   string // dir, from the folder of the page that is made
	read     map[string]*experiment.Record
	pictures map[string]string         // SVG, by the file's name
	figures  map[string]*figure.Figure // what they show
}

func newMaker(root string) *maker {
	return &maker{dir: filepath.Join(root, filepath.FromSlash(results)), read: map[string]*experiment.Record{}, pictures: map[string]string{}, figures: map[string]*figure.Figure{}}
}

func (m *maker) record(name string) (*experiment.Record, error) {
	if r, ok := m.read[name]; ok {
		return r, nil
	}
	r, err := experiment.ReadRecord(filepath.Join(m.dir, filepath.FromSlash(name)))
	if err == nil {
		m.read[name] = r
	}
	return r, err
}

// render returns a page with its tables and values.
func (m *maker) render(text string) (string, error) {
	var failed error
	replace := func(pattern *regexp.Regexp, make func(match []string) (string, error)) {
		text = pattern.ReplaceAllStringFunc(text, func(old string) string {
			made, err := make(pattern.FindStringSubmatch(old))
			if err != nil && failed == nil {
				failed = err
			}
			return made
		})
	}
	replace(tableMark, func(match []string) (string, error) {
		body, err := m.table(match[2], strings.Fields(match[3]))
		return match[1] + body + "<!-- end -->", err
	})
	replace(linesMark, func(match []string) (string, error) {
		body, err := m.lines(match[2], match[3])
		return match[1] + body + "<!-- end -->", err
	})
	replace(filmMark, func(match []string) (string, error) {
		body, err := m.film(match[2])
		return match[1] + body + "<!-- end -->", err
	})
	replace(pictureMark, func(match []string) (string, error) {
		body, err := m.picture(match[2], match[3], strings.Fields(match[4]))
		return match[1] + body + "<!-- end -->", err
	})
	replace(valueMark, func(match []string) (string, error) {
		body, err := m.value(match[2], match[3], match[4], strings.Fields(match[5]))
		return match[1] + body + "<!-- end -->", err
	})
	if marks := len(anyMark.FindAllString(text, -1)); failed == nil && marks != strings.Count(text, "<!-- end -->") {
		failed = fmt.Errorf("%d marks and %d ends", marks, strings.Count(text, "<!-- end -->"))
	}
	return text, failed
}

// table returns a table with the commands that its results come from.
func (m *maker) table(name string, files []string) (string, error) {
	if name == guesses {
		return guessTable() + "\n", nil
	}
	make, ok := tables[name]
	if !ok {
		return "", fmt.Errorf("no table is called %q", name)
	}
	if len(files) == 0 {
		return "", fmt.Errorf("table %s names no result", name)
	}
	var in []*experiment.Record
	for _, file := range files {
		r, err := m.record(file)
		if err != nil {
			return "", err
		}
		in = append(in, r)
	}
	body, err := make(in)
	if err != nil {
		return "", fmt.Errorf("table %s: %w", name, err)
	}
	if name == "tally" || name == "own" { // the table of the same claims says where they come from
		return body, nil
	}
	return body + "\n" + origins(in), nil
}

// lines returns what a command printed, from the line on whose first word is given, as code. The
// first line of the file says how the rest was made.
func (m *maker) lines(file, first string) (string, error) {
	text, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(file)))
	if err != nil {
		return "", fmt.Errorf("pages: %w", err)
	}
	made, rest, _ := strings.Cut(string(text), "\n")
	all := strings.Split(strings.TrimRight(rest, "\n"), "\n")
	from := slices.IndexFunc(all, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line)+" ", first+" ") })
	if from < 0 {
		return "", fmt.Errorf("%s has no line that begins with %s", file, first)
	}
	command, origin, _ := strings.Cut(made, " at ")
	return fmt.Sprintf("```\n%s\n```\n\n`%s` at %s.\n", strings.Join(all[from:], "\n"), command, origin), nil
}

// origins says how and where results were made.
func origins(in []*experiment.Record) string {
	var b strings.Builder
	for i, r := range in {
		quick := ""
		if r.Quick {
			quick = " A quick run at smaller settings: " + strings.Join(r.Notes[:min(1, len(r.Notes))], "")
		}
		end := "  " // a line of its own
		if i == len(in)-1 {
			end = ""
		}
		fmt.Fprintf(&b, "`%s` at %.7s, %s, on %s.%s%s\n", r.Command, r.Commit, r.Date.Format("2006-01-02"), r.Machine, quick, end)
	}
	return b.String()
}

// value returns the cell of a column in the only row that conditions leave.
func (m *maker) value(file, column, form string, conditions []string) (string, error) {
	r, err := m.record(file)
	if err != nil {
		return "", err
	}
	var found []any
	for _, row := range r.Rows {
		fits := true
		for _, c := range conditions {
			key, want, _ := strings.Cut(c, "=")
			fits = fits && fmt.Sprint(row[key]) == want
		}
		if cell, ok := row[column]; fits && ok {
			found = append(found, cell)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%s has %d rows with %s where %q, want one", file, len(found), column, conditions)
	}
	if v, ok := found[0].(float64); ok && form == "percent" {
		return fmt.Sprintf("%.0f %%", 100*v), nil
	}
	return fmt.Sprintf(form, found[0]), nil
}
