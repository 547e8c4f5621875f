package speed

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The module of a symbol is the longest one that its package lies in.
func TestSymbolsBelongToModules(t *testing.T) {
	modules := []string{"github.com/a/b", "github.com/a/b/v2", "gopkg.in/yaml.v3", "go.example.org/c"}
	for symbol, want := range map[string]string{
		"runtime.mallocgc":                                 "standard library",
		"net/http.(*Server).Serve":                         "standard library",
		"github.com/a/b.Do":                                "github.com/a/b",
		"github.com/a/b/inner.(*T).M-fm":                   "github.com/a/b",
		"github.com/a/b/v2/sstable.init.0":                 "github.com/a/b/v2",
		"github.com/a/bc.Do":                               "standard library",
		"gopkg.in/yaml%2ev3.Marshal":                       "gopkg.in/yaml.v3",
		"slices.SortFunc[go.shape.*uint8]":                 "standard library",
		"go.example.org/c.F[go.shape.github.com/a/b/v2.T]": "go.example.org/c",
	} {
		if got := moduleOf(symbol, modules); got != want {
			t.Errorf("%s is of %s, want %s", symbol, got, want)
		}
	}
}

// Parts are no larger than the binary, and most of it is found.
func TestSizesAreThoseOfTheBinary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another format than ELF")
	}
	dir := t.TempDir()
	source, path := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), dir, nil, "go", "build", "-ldflags", "-w", "-o", path, source); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := sizesOf(path)
	if err != nil {
		t.Fatal(err)
	}
	standard := sizes[standardLibrary]
	if share := standard.total() / float64(info.Size()); len(sizes) != 1 || share < 0.5 || share > 1 || standard.tables < standard.code/4 {
		t.Errorf("%.2f of the binary: %+v", share, sizes)
	}
	if _, err := sizesOf(source); err == nil {
		t.Error("a text has a size by symbols")
	}
}
