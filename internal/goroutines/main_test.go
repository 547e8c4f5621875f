package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// ways are tests that start a goroutine, each in its own way.
var ways = map[string]string{
	"afterfunc": "import \"context\"\n\nvar _ = context.AfterFunc(context.Background(), func() {})",
	"cleanup":   "import \"runtime\"\n\nvar _ = runtime.AddCleanup(new(int), func(int) {}, 1)",
	"finalizer": "import \"runtime\"\n\nfunc f(p *int) { runtime.SetFinalizer(p, nil) }",
	"group":     "import \"sync\"\n\nfunc f(g *sync.WaitGroup) { g.Go(func() {}) }",
	"http":      "import _ \"net/http\"",
	"indirect":  "import _ \"example.test/through\"",
	"parallel":  "import \"testing\"\n\nfunc TestX(t *testing.T) { t.Parallel() }",
	"process":   "import _ \"os/exec\"",
	"rpc":       "import _ \"net/rpc\"",
	"run":       "import \"testing\"\n\nfunc BenchmarkX(b *testing.B) { b.RunParallel(nil) }",
	"statement": "func f() { go f() }",
}

// Each way to start a goroutine is seen. Packages that start none are left out, and those without
// tests.
func TestPackagesWithMoreThanOneGoroutine(t *testing.T) {
	files := map[string]string{
		"go.mod":             "module example.test\n\ngo 1.25\n",
		"starts/starts.go":   "package starts\n\nfunc F() { go F() }\n",
		"through/through.go": "package through\n\nimport _ \"example.test/starts\"\n",
		"one/one.go":         "package one\n\nimport \"sync\"\n\nvar Mu sync.Mutex // go one()\n",
		"one/one_test.go":    "package one\n",
		"outer/outer.go":     "package outer\n\nimport _ \"example.test/one\"\n",
		"outer/out_test.go":  "package outer_test\n",
	}
	var want []string
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		files[name+"/x_test.go"] = "package " + name + "_test\n\n" + ways[name] + "\n"
		want = append(want, "example.test/"+name)
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := concurrent(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Of this module, what is known to start goroutines is there, what only computes is not. Packages of
// other modules count: a broker starts goroutines.
func TestThisModule(t *testing.T) {
	got, err := concurrent("../..")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"server": true, "server/jetstream/embedded": true, "internal/parallel": true, "coco": true, "fl/fltest": true,
		"internal/glyph": false, "privacy": false, "hdsum/bbgn": false,
	} {
		if slices.Contains(got, "github.com/hushgrad/hushgrad/"+path) != want {
			t.Errorf("%s: %t, want %t", path, !want, want)
		}
	}
}
