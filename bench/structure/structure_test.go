package structure

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

const module = "github.com/hushgrad/hushgrad"

// floors lists the packages of the module from the ground up. A package imports packages of the
// floors below its own, and its own parents and children. An entry stands for the packages below its
// folder, too, unless they have one of their own.
var floors = [][]string{
	{"proto/hushgrad/v1"},
	{"fl"},
	{"internal"},
	{"ternarize", "rotation", "privacy"},
	{"sparse", "hdsum"},
	{"keyvalue"},
	{"coco", "collision", "signsketch", "privunit", "baseline"},
	{"tiers"},
	{"mechanisms"},
	{"plan"},
	{"trainer", "server"},
	{"examples/mnist/dataset"},
	{"bridge", "cmd", "examples"},
}

// light are the packages that build without gRPC and Gorgonia.
var light = []string{
	"fl", "internal/reportfile", "ternarize", "rotation", "privacy", "sparse", "keyvalue", "hdsum",
	"coco", "collision", "signsketch", "privunit", "baseline", "tiers", "mechanisms", "plan", "trainer/features", "server/seal",
	"bridge",
}

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	Imports, Deps   []string
}

// packages returns the packages of the module by their path in it. All tests share them.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var list = sync.OnceValues(func() (map[string]listed, error) {
	command := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,Imports,Deps", "./...", "./bridge/...")
	command.Dir = root
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	all := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if path, ours := inModule(p.ImportPath); ours {
			all[path] = p
		}
	}
	if len(all) < 40 {
		return nil, fmt.Errorf("go list found %d packages of the module", len(all))
	}
	return all, nil
})

// importLine returns the file and line at which a package imports another one.
func importLine(t *testing.T, p listed, imported string) string {
	t.Helper()
	for _, name := range p.GoFiles {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if i.Path.Value == strconv.Quote(imported) {
				path, _ := inModule(p.ImportPath)
				return fmt.Sprintf("%s/%s:%d", path, name, files.Position(i.Pos()).Line)
			}
		}
	}
	return p.ImportPath
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
	high, own, err := floorOf(from)
	if err != nil {
		return err.Error()
	}
	low, other, err := floorOf(to)
	switch {
	case err != nil:
		return err.Error()
	case own == other: // the compiler refuses circles
	case low >= high:
		return fmt.Sprintf("%s is on floor %d and %s on floor %d: remove the import, or move a package in floors of bench/structure/structure_test.go",
			from, high, to, low)
	}
	return ""
}

func TestArrowsRunOneWay(t *testing.T) {
	for path, p := range packages(t) {
		for _, imported := range p.Imports {
			if to, ours := inModule(imported); ours {
				if wrong := wrongArrow(path, to); wrong != "" {
					t.Errorf("%s: %s", importLine(t, p, imported), wrong)
				}
			}
		}
	}
	for _, c := range []struct{ from, to string }{
		{"internal/sample", "coco"}, {"coco", "server"}, {"trainer", "server"}, {"server", "trainer"}, {"fl", "privacy"},
		{"fl", "internal/sample"}, {"cmd/hushgrad", "bench/experiment"}, {"privacy/ledger", "coco"}, {"server", "unheard/of"},
		{"internal/sample", "bridge/internal/abi"}, {"plan", "bridge/internal/abi"}, {"server/seal", "bridge/internal/abi"},
	} {
		if wrongArrow(c.from, c.to) == "" {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
}

// Folders depend on each other in one direction: no two import each other, however long the way.
func TestFoldersAreNoKnot(t *testing.T) {
	arrows, ids := simple.NewDirectedGraph(), map[string]int64{}
	var names []string
	id := func(path string) int64 {
		folder, _, _ := strings.Cut(path, "/")
		if _, known := ids[folder]; !known {
			ids[folder] = int64(len(names))
			names = append(names, folder)
			arrows.AddNode(simple.Node(ids[folder]))
		}
		return ids[folder]
	}
	for path, p := range packages(t) {
		for _, imported := range p.Imports {
			if to, ours := inModule(imported); ours && id(path) != id(to) {
				arrows.SetEdge(arrows.NewEdge(simple.Node(id(path)), simple.Node(id(to))))
			}
		}
	}
	for _, circle := range topo.TarjanSCC(arrows) {
		if len(circle) > 1 {
			var folders []string
			for _, node := range circle {
				folders = append(folders, names[node.ID()])
			}
			t.Errorf("these folders import each other: %s", strings.Join(folders, ", "))
		}
	}
	if len(names) < 15 {
		t.Errorf("found %d folders", len(names))
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
	// The tests of the module, too, would need what go.mod requires.
	if text, err := os.ReadFile(filepath.Join(root, "go.mod")); err != nil || strings.Contains(string(text), "nats-server") {
		t.Errorf("go.mod requires a broker, which the module cmd/hushgrad-broker alone is to do, %v", err)
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
		// account plan rehearses runs on generated pictures, and needs no more of the demo.
		pictures := path == "examples/mnist/dataset" || path == "trainer/features"
		if below(dep, "github.com/nats-io/nats-server") || below(dep, "gonum.org/v1/plot") {
			t.Errorf("cmd/hushgrad builds %s, which hushgrad-broker and hushgrad-draw are for", dep)
		}
		if below(dep, "gorgonia.org") || ours && !pictures && (below(path, "bench") || below(path, "examples") || below(path, "trainer")) {
			t.Errorf("cmd/hushgrad builds %s", dep)
		}
	}
}
