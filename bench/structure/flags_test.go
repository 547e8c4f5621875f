package structure

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// registered finds where a program adds a flag: what is put in front of the name, if anything, and the name.
	registered = regexp.MustCompile(`(?:OneOf|\.(?:Bool|Int|Int64|Uint64|String|Float64|Duration|Var)(?:Var)?(?:P|PF)?)\((?:[^"\n]*[ (])?(\w+ ?\+ ?)?"-?([a-z][a-z0-9-]+)", `)
	// oneDash finds a word behind one dash that stands alone.
	oneDash = regexp.MustCompile("(?m)(?:^|[\\s\"'`(\\[|])-([a-z][a-z0-9-]+)")
	// otherTools finds, in front of a flag on its line, a program whose long flags have one dash, or the first part of a
	// name that is put together.
	otherTools = regexp.MustCompile(`\b(?:go (?:test|build|vet|doc|list|mod|tool)|gotest|openssl)\b|\.test" |"(?:go|test)", |-(?:keyout|extfile|CAkey|subj|req)\b|\+ ?"-$`)
)

// aboutOneDash are tests that write flags with one dash, to see them refused or found.
var aboutOneDash = []string{"internal/command/flags_test.go", "bench/structure/flags_test.go", "beam/main_test.go"}

// flagNames returns the names of the flags of a text's program, and the ends of names that are put together.
func flagNames(text string) (names, ends []string) {
	for _, m := range registered.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			names = append(names, m[2])
		} else {
			ends = append(ends, m[2])
		}
	}
	return names, ends
}

// oneDashes returns the lines of a text that show a long flag with one dash. In Go only comments and strings count.
func oneDashes(path, text string, names, ends []string) (lines []int) {
	shown := func(int) bool { return true }
	if filepath.Ext(path) == ".go" {
		parts := words(text)
		shown = func(at int) bool {
			return slices.ContainsFunc(parts, func(p [2]int) bool { return p[0] <= at && at < p[1] })
		}
	}
	for _, m := range oneDash.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		ours := slices.Contains(names, name) || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, "-"+end) })
		front := text[1+strings.LastIndex(text[:m[2]], "\n") : m[2]]
		negated := strings.HasPrefix(text[m[3]:], "(") // what a function returns
		if ours && !negated && shown(m[2]) && !otherTools.MatchString(front) {
			lines = append(lines, 1+strings.Count(text[:m[2]], "\n"))
		}
	}
	return lines
}

// words returns where the comments and the strings of a Go file are.
func words(text string) (parts [][2]int) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), func(token.Position, string) {}, scanner.ScanComments)
	for {
		at, kind, literal := s.Scan()
		switch kind {
		case token.EOF:
			return parts
		case token.COMMENT, token.STRING:
			parts = append(parts, [2]int{file.Offset(at), file.Offset(at) + len(literal)})
		}
	}
}

// showsFlags reports whether the file at a path is read by people who type commands, or has what commands print.
func showsFlags(path string) bool {
	switch filepath.Ext(path) {
	case ".go":
		return !strings.HasSuffix(path, ".pb.go") && !slices.Contains(aboutOneDash, path)
	case ".md", ".py", ".json", ".toml", ".yaml", ".yml", ".service", ".ts", ".ipynb":
		return true
	}
	return slices.Contains([]string{".ci/run", "Makefile", "docs/deploy/Dockerfile"}, path)
}

// readShown visits the files that show flags, by their paths from the root.
func readShown(t *testing.T, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && path != "." && path != ".ci" && path != ".github" || slices.Contains(unwritten, path) || d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if showsFlags(path) {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			visit(path, string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Programs take their flags with pflag: package flag of the standard library reads long flags behind one dash, too, and
// prints them so. What is below beam/ shares Beam's flags, and tests share go test's.
func TestProgramsParseWithPflag(t *testing.T) {
	parsing := 0
	readShown(t, func(path, text string) {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || below(path, "beam") {
			return
		}
		if strings.Contains(text, "\"github.com/spf13/pflag\"\n") {
			parsing++
		}
		if strings.Contains(text, "\t\"flag\"\n") {
			t.Errorf("%s: import github.com/spf13/pflag in place of flag", path)
		}
	})
	if parsing < 20 {
		t.Errorf("%d files take flags", parsing)
	}
}

// Everything that shows a long flag of one of our programs has two dashes in front of it.
func TestLongFlagsHaveTwoDashes(t *testing.T) {
	names, ends := flagNames("f.IntVar(&n, \"number\", 1, \"\")\n\tOneOf(f, &x.y, \"format\", \"\", nil, \"\")\nf.StringVar(&c.ca, who+\"-ca\", \"\", \"\")\n f.IntVarP(&n, \"reports\", \"n\", 1, \"\")\n")
	if !slices.Equal(names, []string{"number", "format", "reports"}) || !slices.Equal(ends, []string{"ca"}) {
		t.Errorf("names %q, ends %q", names, ends)
	}
	for text, want := range map[string]int{
		"x -number 1": 1, "`-number=1`": 1, "-number": 1, `"-number"`: 1, "(-format)": 1, "[-reports N]": 1, "x -any-ca f": 1, "-number -format": 2,
		"--number": 0, "-n 1": 0, "-numbers": 0, "a-number": 0, "-ca": 0, "go test . -number 1": 0, "go run . -number 1": 1, "openssl req -reports": 0, `"--"+who+"-number"`: 0, "go test\n-number": 1, "x @ -number(y)": 0,
	} {
		if got := oneDashes("a.md", text, names, ends); len(got) != want {
			t.Errorf("%q: lines %v, want %d", text, got, want)
		}
	}
	if got := oneDashes("a.go", "package a\n\nvar x = y(-number) // -number\nvar z = \"-format\"\n", names, ends); !slices.Equal(got, []int{3, 4}) {
		t.Errorf("lines %v of Go", got)
	}
	names, ends = nil, nil
	readShown(t, func(path, text string) {
		if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") && strings.Contains(text, "flag\"\n") {
			moreNames, moreEnds := flagNames(text)
			names, ends = append(names, moreNames...), append(ends, moreEnds...)
		}
	})
	if len(names) < 150 || !slices.Contains(names, "epsilon") || !slices.Contains(names, "mechanism") || !slices.Contains(ends, "tls-ca") || !slices.Contains(ends, "ca") {
		t.Errorf("%d names %q and ends %q", len(names), names, ends)
	}
	files := 0
	readShown(t, func(path, text string) {
		files++
		for _, line := range oneDashes(path, text, names, ends) {
			t.Errorf("%s:%d: write two dashes in front of a long flag", path, line)
		}
	})
	if files < 1000 {
		t.Errorf("%d files", files)
	}
}
