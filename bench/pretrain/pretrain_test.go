package pretrain

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain/recipe"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// A size that does not exist is refused before any font is fetched.
func TestUnknownSize(t *testing.T) {
	t.Setenv("PATH", "")
	f := flag.NewFlagSet("", flag.ContinueOnError)
	run := bind(f)
	if err := command.Parse(f, []string{"--size", "huge", "--fonts", t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	var wrong *fl.ParamError
	if _, err := run(t.Context(), experiment.Env{Jobs: 1}); !errors.As(err, &wrong) || wrong.Param != "--size" {
		t.Errorf("%v, want an error for --size", err)
	}
}

func TestSettings(t *testing.T) {
	for size, want := range map[string]recipe.Size{"small": recipe.Small, "big": recipe.Big} {
		whole, err := settings(size, false)
		quick, err2 := settings(size, true)
		if err != nil || err2 != nil || whole.Size != want || quick.Size != want {
			t.Errorf("%s: %v and %v", size, whole.Size, quick.Size)
		}
		if n, all := quick.Stages*quick.Steps, whole.Stages*whole.Steps; n*100 > all*2 || whole.Batch%2 != 0 {
			t.Errorf("%s: %d quick steps of %d", size, n, all)
		}
	}
}

// A network is written as ReadNetwork reads it.
func TestWrite(t *testing.T) {
	p := features.NetworkParts{Channels: [3]int{1, 1, 1}, Width: 1, Weights: make([]float64, 26+10+10+17), Mean: []float64{0}, Head: []float64{0, 0, 0}, HeadBias: []float64{0, 1, 0}}
	n, err := features.NewNetwork(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "weights")
	if err := write(path, n); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if again, err := features.ReadNetwork(file); err != nil || again.Digest() != n.Digest() {
		t.Errorf("read back: %v", err)
	}
}

// The weights of the public glyph features are made by code that cannot read pictures: what
// reads MNIST's files is no part of it.
func TestPretrainingReadsNoPictures(t *testing.T) {
	const loader = "github.com/hushgrad/hushgrad/examples/mnist/dataset"
	deps := func(path string) []string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	for _, dep := range deps("./recipe") {
		if strings.HasPrefix(dep, "github.com/hushgrad/hushgrad/examples") {
			t.Errorf("package recipe builds %s", dep)
		}
	}
	if !slices.Contains(deps("."), loader) {
		t.Error("what measures the weights does not build the loader of MNIST: the loader is elsewhere, and this test looks at the wrong place")
	}
}
