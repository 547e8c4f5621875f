package structure

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// pages returns the Markdown pages of the module by their path in it.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/results/*.md", "*/README.md", "*/*/README.md", "*/*/*/README.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			out[filepath.ToSlash(path)] = string(text)
		}
	}
	if len(out) < 8 {
		t.Fatalf("found %d pages", len(out))
	}
	return out
}

// testNames returns the folders of all tests, fuzz targets, benchmarks and examples, by their names.
func testNames(t *testing.T) map[string][]string {
	t.Helper()
	names, declared := map[string][]string{}, regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(code), -1) {
			names[m[1]] = append(names[m[1]], filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A page that says that a test proves something names a test that there is, and in the package that it names.
func TestTestsNamedOnPagesExist(t *testing.T) {
	names, mentioned := testNames(t), 0
	for page, text := range pages(t) {
		if page == "CHANGELOG.md" {
			continue // it names what there was
		}
		for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`).FindAllString(text, -1) {
			if mentioned++; names[name] == nil {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
		for _, m := range regexp.MustCompile("`([a-z][\\w/]*)`((?:,? (?:and )?`Test\\w+`)+)").FindAllStringSubmatch(text, -1) {
			for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(m[2], -1) {
				if !slices.ContainsFunc(names[name], func(folder string) bool { return strings.HasSuffix(folder, "/"+m[1]) }) {
					t.Errorf("%s says that package %s has %s, which is in %v", page, m[1], name, names[name])
				}
			}
		}
	}
	if mentioned < 20 {
		t.Errorf("the pages name %d tests", mentioned)
	}
}

// Links to files of the module lead to files, and pictures are there.
func TestLinksOnPagesLeadSomewhere(t *testing.T) {
	links := 0
	for page, text := range pages(t) {
		for _, m := range regexp.MustCompile(`(?:\]\(|<(?:img|source) [^>]*src(?:set)?=")([^)"#\s]+)(?:#[^)]*)?[)"]`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("the pages have %d links", links)
	}
}

// A newcomer reads what a link leads to, and not the name of a file.
func TestTheStartPageNamesNoFiles(t *testing.T) {
	for _, m := range regexp.MustCompile(`\[([^]]+)\]\(`).FindAllStringSubmatch(pages(t)["docs/index.md"], -1) {
		if regexp.MustCompile(`^\S+\.[a-z]{2,5}$`).MatchString(m[1]) {
			t.Errorf("docs/index.md has a link with the name %s", m[1])
		}
	}
}

// anchors returns the anchors of a page's headings, as the forge and the site make them.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		marks, heading, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.Trim(marks, "#") != "" {
			continue
		}
		anchor := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
		anchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(anchor), "")
		out[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	return out
}

// Links with an anchor lead to a heading.
func TestAnchorsOnPagesLeadToHeadings(t *testing.T) {
	all, links := pages(t), 0
	for page, text := range all {
		for _, m := range regexp.MustCompile(`\]\(([^)#\s]*)#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
			target := page
			if m[1] != "" {
				target = path.Join(path.Dir(page), m[1])
			}
			goal, ok := all[target]
			if !ok {
				continue // a file of code, or another site
			}
			if links++; !anchors(goal)[m[2]] {
				t.Errorf("%s links to %s#%s, which no heading has", page, target, m[2])
			}
		}
	}
	if links < 20 {
		t.Errorf("the pages have %d links with anchors", links)
	}
}
