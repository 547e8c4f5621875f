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

// pronoun finds a pronoun that stands for a noun in front of "of", on one line or across the break of a comment, a
// string or a paragraph. Code has no such two words side by side, so whole files are searched.
var pronoun = regexp.MustCompile(`\b(?:[Tt]hat|[Tt]hose)(?:[ \t]+|["'+\x60\\ \t]*\r?\n[ \t]*(?://|#|>|\*)?[ \t]*[bfru]?["'\x60]?)of\b`)

// unwritten are folders with what commands have made. .gitignore names them, too.
var unwritten = []string{"out", "bin", "dist", "wheels", "bridge/web/dist"}

// proseFile reports whether somebody wrote the file at a path: generated code is as its maker has it.
func proseFile(path string) bool {
	switch filepath.Ext(path) {
	case ".go":
		return !strings.HasSuffix(path, ".pb.go")
	case ".py", ".md":
		return true
	}
	return false
}

// pronouns returns the lines of a text on which a form begins.
func pronouns(text string) []int {
	var lines []int
	for _, at := range pronoun.FindAllStringIndex(text, -1) {
		lines = append(lines, 1+strings.Count(text[:at[0]], "\n"))
	}
	return lines
}

// Comments, messages and pages repeat the noun or use the possessive: a reader does not look for it two
// sentences back.
func TestProseRepeatsTheNoun(t *testing.T) {
	for _, sample := range []string{"Its @ of it", "@ of", "// the @\n\t// of it", "# the @\n# of it", "> the @\n> of it", "the @\nof it", "\"the @ \" +\n\t\"of it\"", "(\"the @ \"\n f\"of it\")"} {
		for _, word := range []string{"that", "That", "those", "Those"} {
			if text := "\n" + strings.ReplaceAll(sample, "@", word); len(pronouns(text)) != 1 || pronouns(text)[0] != 2 {
				t.Errorf("not found in %q", text)
			}
		}
	}
	for _, text := range []string{"// that\n\nof", "that often", "the ThatOf", `"that", "of"`, "all of those", "x int // that\ny int // of"} {
		if len(pronouns(text)) != 0 {
			t.Errorf("found in %q", text)
		}
	}
	files := map[string]int{}
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
			if path != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(unwritten, path)) {
				return fs.SkipDir
			}
			return nil
		}
		if !proseFile(path) {
			return nil
		}
		text, err := os.ReadFile(file)
		files[filepath.Ext(path)]++
		for _, line := range pronouns(string(text)) {
			t.Errorf("%s:%d: repeat the noun, or use the possessive", path, line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files[".go"] < 500 || files[".py"] < 50 || files[".md"] < 30 {
		t.Errorf("read %v files", files)
	}
}
