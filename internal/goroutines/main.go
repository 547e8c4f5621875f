// Command goroutines prints the packages of a module whose tests run on more than one goroutine.
// Use it to choose what the race detector is for: it finds nothing where there is one goroutine.
// Start it as .ci/run does: go test -race $(go run ./internal/goroutines)
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	paths, err := concurrent(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "goroutines:", err)
		os.Exit(1)
	}
	for _, path := range paths {
		fmt.Println(path)
	}
}

// starters are the functions and methods that run what they get on another goroutine, whatever they
// belong to: sync.WaitGroup.Go and those like it, context.AfterFunc, testing.T.Parallel.
var starters = []string{"Go", "AfterFunc", "Parallel", "RunParallel", "AddCleanup", "SetFinalizer"}

// callers are the packages of the standard library that call back from goroutines of their own, or
// write to what they were given.
var callers = []string{"net/http", "net/rpc", "os/exec"}

// inside are packages whose goroutines end before a function returns, and run nothing of its caller.
var inside = []string{"gonum.org/v1/gonum/blas/gonum"}

// listed is what go list says of a package. That of a test has what it builds as Deps.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	GoFiles         []string
	CgoFiles        []string
	Deps            []string
}

// concurrent returns the packages below dir whose tests build a file that may start a goroutine. The
// file is of this module or of another one. The standard library counts by its callers alone.
func concurrent(dir string) ([]string, error) {
	command := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,Standard,GoFiles,CgoFiles,Deps", "./...")
	command.Dir = dir
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	several := map[string]bool{} // by the import path, as Deps have it
	var tests []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if strings.HasSuffix(p.ImportPath, ".test") { // what go test generates around the tests
			tests = append(tests, p)
			continue
		}
		if p.Standard || slices.Contains(inside, p.ImportPath) {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			found, err := starts(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			several[p.ImportPath] = several[p.ImportPath] || found
		}
	}
	var paths []string
	for _, test := range tests {
		if slices.ContainsFunc(test.Deps, func(path string) bool { return several[path] }) {
			paths = append(paths, strings.TrimSuffix(test.ImportPath, ".test"))
		}
	}
	return paths, nil
}

// starts says whether a file may start a goroutine: it has a go statement, names one of the starters,
// or imports one of the callers.
func starts(name string) (found bool, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return false, err
	}
	for _, imported := range file.Imports {
		path, err := strconv.Unquote(imported.Path.Value)
		if err != nil {
			return false, err
		}
		found = found || slices.Contains(callers, path)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			found = found || slices.Contains(starters, n.Sel.Name)
		}
		return !found
	})
	return found, nil
}
