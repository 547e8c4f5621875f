package laboratory

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pages"
	"github.com/hushgrad/hushgrad/internal/command"
)

// Every documented go run ./bench NAME names an experiment.
func TestExperimentsNamedOnPagesExist(t *testing.T) {
	files, err := pages.Paths("../..")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, file := range append(files, "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`go run \./bench ([a-z][a-z0-9-]*)`).FindAllStringSubmatch(string(text), -1) {
			named++
			known := slices.ContainsFunc(experiments, func(e experiment.Experiment) bool { return e.Name == m[1] })
			if !known && m[1] != "all" && m[1] != "draw" && m[1] != "pages" && m[1] != "verdicts" {
				t.Errorf("%s runs ./bench %s, which is not an experiment", filepath.Base(file), m[1])
			}
		}
	}
	if named < 10 {
		t.Errorf("the pages name %d experiments", named)
	}
}

// go run ./bench pages --check passes in the module, and not where there are no pages.
func TestPagesCommand(t *testing.T) {
	run := func() error {
		return commandOf(experiments...).run(t.Context(), []string{"pages", "--check"}, command.Streams{Out: io.Discard, Err: io.Discard})
	}
	if err := run(); err == nil {
		t.Error("no error where there are no pages")
	}
	t.Chdir("../..")
	if err := run(); err != nil {
		t.Error(err)
	}
}
