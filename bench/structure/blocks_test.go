package structure

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fenced finds blocks of code: the line above, the language, and the code.
var fenced = regexp.MustCompile("(?m)^(.*)\n\n?```([a-z]*)\n((?s:.*?))^```$")

// A block says how it is run in the line above: by a test or by .ci/run, or that it is not run.
var (
	runBy  = regexp.MustCompile(`^<!-- run by ([\w./]+) -->$`)
	notRun = regexp.MustCompile(`^\*Not run in CI: .{10,}\.\*$`)
	serves = regexp.MustCompile(`^<!-- serves (127\.0\.0\.1:\d+) -->$`)
)

// show are the languages of blocks that nobody runs.
var show = []string{"", "json", "toml", "diff", "csv", "text"}

// declarations returns where a test or an example is declared, by its name: the code of the file, and
// of the files beside it.
func declarations(t *testing.T) map[string][]string {
	t.Helper()
	out, declared := map[string][]string{}, regexp.MustCompile(`(?m)^(?:func ((?:Test|Example)\w*)\(|def (test_\w+)\()`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		var names, code []string
		for _, pattern := range []string{"*.go", "test_*.py"} {
			files, err := filepath.Glob(filepath.Join(path, pattern))
			if err != nil {
				return err
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				code = append(code, string(text))
				if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".py") {
					for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
						names = append(names, m[1]+m[2])
						out[m[1]+m[2]] = append(out[m[1]+m[2]], string(text))
					}
				}
			}
		}
		for _, name := range names { // examples of several packages have one name
			out[name] = append(out[name], code...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// contains is true of code with all lines of a snippet, in their order, at one indent.
func contains(code, snippet string) bool {
	for line := range strings.Lines(snippet) {
		_, after, found := strings.Cut(code, strings.TrimSpace(line))
		if !found {
			return false
		}
		code = after
	}
	return true
}

// programsTest runs all whole programs in Go, but for the module of several files that moduleTest follows its page to.
const (
	programsTest = "TestProgramsOnPagesRun"
	moduleTest   = "TestAMechanismOfYourOwnIsCompared"
)

// wrongBlock returns what is wrong with a block of a page, or "". TestPagesWorkFromTopToBottom runs
// each block of shell commands without a mark.
func wrongBlock(page, above, language, code string, tests map[string][]string, ci string) string {
	m := runBy.FindStringSubmatch(above)
	switch {
	case slices.Contains(show, language), notRun.MatchString(above):
		return ""
	case m == nil && language == "sh":
		return ""
	case m == nil:
		return "is neither run nor marked as not run"
	case m[1] == ".ci/run":
		for line := range strings.Lines(code) {
			if command, _, _ := strings.Cut(line, "  #"); !strings.Contains(ci, strings.TrimSpace(command)+"\n") {
				return ".ci/run does not have " + line
			}
		}
		return ""
	}
	runs := m[1] == programsTest || m[1] == moduleTest
	if whole := strings.HasPrefix(code, "package "); language == "go" && whole != runs {
		return programsTest + " and " + moduleTest + " run whole files in Go, and nothing else"
	}
	shown := func(file string) bool { return contains(file, code) }
	named := func(file string) bool { return strings.Contains(file, filepath.Base(page)) }
	files := tests[m[1]]
	switch {
	case files == nil:
		return "is run by " + m[1] + ", which does not exist"
	case language == "go" && !runs && !slices.ContainsFunc(files, shown):
		return "is not in a file beside " + m[1]
	case language != "go" && !named(files[0]) && !shown(files[0]):
		return "is run by " + m[1] + ", whose file does not name the page"
	}
	return ""
}

// Each block of code on a page is run, or the page says that it is not.
func TestBlocksOnPagesAreRun(t *testing.T) {
	tests, blocks := declarations(t), 0
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	for page, text := range pages(t) {
		if page != "README.md" && page != "python/README.md" && !strings.HasPrefix(page, "docs/") {
			continue
		}
		if opened := strings.Count("\n"+text, "\n```"); opened != 2*len(fenced.FindAllString(text, -1)) {
			t.Errorf("%s has %d marks of blocks, and %d blocks were found", page, opened, len(fenced.FindAllString(text, -1)))
		}
		for _, b := range fenced.FindAllStringSubmatch(text, -1) {
			blocks++
			if wrong := wrongBlock(page, b[1], b[2], b[3], tests, string(ci)); wrong != "" {
				t.Errorf("%s: the block of %q that begins with %.60q %s", page, b[2], b[3], wrong)
			}
		}
	}
	if blocks < 50 {
		t.Errorf("the pages have %d blocks", blocks)
	}
	for _, c := range []struct{ above, language, code string }{
		{"text", "python", "pass\n"}, {"text", "go", "x\n"}, {"text", "bash", "ls\n"},
		{"<!-- run by TestUnheardOf -->", "python", "pass\n"},
		{"<!-- run by ExampleOperator_PutScalars -->", "go", "unheard.Of()\n"},
		{"<!-- run by TestArrowsRunOneWay -->", "python", "pass\n"},
		{"<!-- run by ExampleOperator_PutScalars -->", "go", "package client_test\n"}, {"<!-- run by TestProgramsOnPagesRun -->", "go", "x\n"},
		{"<!-- run by .ci/run -->", "sh", "unheard of\n"}, {"*Not run in CI: no.*", "python", "pass\n"},
	} {
		if wrongBlock("docs/unheard.md", c.above, c.language, c.code, tests, string(ci)) == "" {
			t.Errorf("a block of %q below %q passes", c.language, c.above)
		}
	}
}
