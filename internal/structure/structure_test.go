package structure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hushgrad/hushgrad"

// floors lists the packages of the module from the ground up. A package may import those
// of the floors below it, its own parents and children, and on the ground floor its
// neighbours. An entry stands for the packages below its folder, too, unless they have
// one of their own.
var floors = [][]string{
	{"proto/hushgrad/v1", "internal/bound"}, // internal/bound imports nothing: fl prints by it
	{"fl"},
	{"internal"}, // may import fl and internal/bound alone; fl does not import it
	{"ternarize", "rotation", "privacy"},
	{"sparse", "hdsum", "hetero"},
	{"keyvalue"},
	{"coco", "collision", "signsketch", "baseline"},
	{"auto", "tiers"},
	{"plan"},
	{"trainer", "server"},
	{"internal/abi"},
	{"cmd", "sdk", "bench", "examples"},
}

// exceptions are arrows within a floor, each with its reason.
var exceptions = map[string]string{
	"bench/ -> examples/mnist/dataset":                "experiments and the demo train on the same pictures",
	"proto/hushgrad/v1/service -> proto/hushgrad/v1/": "services send rounds",
}

// light are the packages that build without gRPC and Gorgonia.
var light = []string{
	"fl", "fl/reportfile", "ternarize", "rotation", "privacy", "sparse", "keyvalue", "hdsum", "hetero",
	"coco", "collision", "signsketch", "baseline", "auto", "tiers", "plan", "trainer/features", "server/seal",
	"internal/abi", "cmd/hushgrad-bridge", "sdk",
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// packages returns the packages of the module by their path in it.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", module+"/...")
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	all := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if path, ours := inModule(p.ImportPath); ours {
			all[path] = p
		}
	}
	if len(all) < 40 {
		t.Fatalf("go list found %d packages of the module", len(all))
	}
	return all
}

func inModule(path string) (string, bool) { return strings.CutPrefix(path, module+"/") }

// below says whether path is the package dir or lies below its folder.
func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// floorOf returns the floor of a package, and its entry there.
func floorOf(path string) (floor int, entry string, err error) {
	for i, entries := range floors {
		for _, e := range entries {
			if below(path, e) && len(e) > len(entry) {
				floor, entry = i, e
			}
		}
	}
	if entry == "" {
		err = fmt.Errorf("%s has no floor: add it to floors", path)
	}
	return floor, entry, err
}

// wrongArrow returns what is wrong with an import, or "".
func wrongArrow(from, to string) string {
	for arrow := range exceptions {
		f, t, _ := strings.Cut(arrow, " -> ")
		if below(from, strings.TrimSuffix(f, "/")) && below(to, strings.TrimSuffix(t, "/")) {
			return ""
		}
	}
	high, own, err := floorOf(from)
	if err != nil {
		return err.Error()
	}
	low, other, err := floorOf(to)
	switch {
	case err != nil:
		return err.Error()
	case own == other:
		return "" // the compiler refuses circles
	case own == "internal" && other != "fl" && other != "internal/bound":
		return fmt.Sprintf("%s imports %s: internal is the ground floor", from, to)
	case low >= high:
		return fmt.Sprintf("%s imports %s, which is not below it", from, to)
	}
	return ""
}

func TestArrowsRunOneWay(t *testing.T) {
	for path, p := range packages(t) {
		for _, imported := range p.Imports {
			if to, ours := inModule(imported); ours {
				if wrong := wrongArrow(path, to); wrong != "" {
					t.Error(wrong)
				}
			}
		}
	}
	for _, c := range []struct{ from, to string }{
		{"internal/sample", "coco"}, {"coco", "server"}, {"trainer", "server"}, {"server", "trainer"}, {"fl", "privacy"},
		{"cmd/hushgrad", "bench/experiment"}, {"privacy/ledger", "coco"}, {"server", "unheard/of"},
		{"internal/sample", "internal/abi"}, {"plan", "internal/abi"}, {"server/seal", "internal/abi"},
	} {
		if wrongArrow(c.from, c.to) == "" {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
}

// heavy are the dependencies that light packages do without.
var heavy = []string{"google.golang.org/grpc", "gorgonia.org", "gonum.org/v1/plot"}

func TestTheVocabularyIsLight(t *testing.T) {
	for path, p := range packages(t) {
		if !slices.ContainsFunc(light, func(dir string) bool { return below(path, dir) }) || isTestHelper(path) {
			continue
		}
		for _, dep := range p.Deps {
			if slices.ContainsFunc(heavy, func(prefix string) bool { return below(dep, prefix) }) {
				t.Errorf("%s builds %s", path, dep)
				break
			}
		}
	}
}

// The core links no broker and no client of one: package server/jetstream alone does.
func TestTheCoreKnowsNoBroker(t *testing.T) {
	all := packages(t)
	for path, p := range all {
		if path != "server" && !below(path, "server/shuffler") && !below(path, "server/client") && !below(path, "server/journal") {
			continue
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "github.com/nats-io/") {
				t.Errorf("%s builds %s", path, dep)
				break
			}
		}
	}
	cluster := all["server/jetstream"]
	if !slices.Contains(cluster.Deps, "github.com/nats-io/nats.go") {
		t.Error("server/jetstream builds no client of a broker: it is elsewhere, and this test looks at the wrong place")
	}
	if slices.Contains(cluster.Deps, "github.com/nats-io/nats-server/v2/server") {
		t.Error("server/jetstream builds a broker, which server/jetstream/embedded alone is to do")
	}
}

// isTestHelper is true of packages that only tests import.
func isTestHelper(path string) bool { return strings.HasSuffix(path, "test") }

func TestTheBinaryHoldsNoExperiments(t *testing.T) {
	binary, ok := packages(t)["cmd/hushgrad"]
	if !ok {
		t.Fatal("no package cmd/hushgrad")
	}
	for _, dep := range binary.Deps {
		path, ours := inModule(dep)
		if below(dep, "gorgonia.org") || ours && (below(path, "bench") || below(path, "examples") || below(path, "trainer")) {
			t.Errorf("cmd/hushgrad builds %s", dep)
		}
	}
}

// The weights of the public glyph features are made by code that cannot read pictures: what
// reads MNIST's files is no part of it.
func TestPretrainingReadsNoPictures(t *testing.T) {
	all := packages(t)
	recipe, ok := all["bench/pretrain/recipe"]
	if !ok {
		t.Fatal("no package bench/pretrain/recipe")
	}
	for _, dep := range recipe.Deps {
		if path, ours := inModule(dep); ours && below(path, "examples") {
			t.Errorf("bench/pretrain/recipe builds %s", path)
		}
	}
	if !slices.Contains(all["bench/pretrain"].Deps, module+"/examples/mnist/dataset") {
		t.Error("what measures the weights does not build the loader of MNIST: the loader is elsewhere, and this test looks at the wrong place")
	}
}
