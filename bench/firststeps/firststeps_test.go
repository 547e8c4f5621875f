package firststeps

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

var long = flag.Bool("long", false, "run the commands of README.md")

func TestCommandsAreThoseOfTheFirstBlock(t *testing.T) {
	got, err := commands("text\n```sh\ngo run ./a   # first\n\ngo run ./b && cd x\n```\n```sh\nlater\n```\n")
	if want := []string{"go run ./a", "go run ./b && cd x"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := commands("```go\nx\n```\n"); err == nil {
		t.Error("no error for a page without shell code")
	}
}

func TestATimeEndsWithTheCommandOrWithItsPage(t *testing.T) {
	dir := t.TempDir()
	if took, until, err := run(t.Context(), "sleep 0.2", dir, os.Environ()); err != nil || until != untilEnd || took < 200*time.Millisecond {
		t.Errorf("%v until %s, %v", took, until, err)
	}
	for _, command := range []string{"exit 3", "echo no page --dashboard", "echo http://127.0.0.1:1/ --dashboard; sleep 60"} {
		if _, _, err := run(t.Context(), command, dir, os.Environ()); err == nil {
			t.Errorf("%s: no error", command)
		}
	}
}

func TestUnknownCachesAreRefused(t *testing.T) {
	if _, err := (setting{root: "../..", caches: "some"}).run(t.Context(), experiment.Env{}); err == nil || !strings.Contains(err.Error(), "--caches") {
		t.Errorf("error %v", err)
	}
}

// The first commands of README.md work in a clone: docs/own-model.md has the last of them. The tests are left out: they
// run this.
func TestFirstStepsOfTheReadme(t *testing.T) {
	if !*long {
		t.Skip("runs with -long")
	}
	result, err := setting{root: "../..", caches: cachesKeep}.run(t.Context(), experiment.Env{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Validate(); err != nil {
		t.Error(err)
	}
	for _, row := range result.Rows {
		t.Log(row...)
	}
	if len(result.Rows) < 2 {
		t.Errorf("%d commands", len(result.Rows))
	}
}
