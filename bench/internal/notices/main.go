// Command notices prints the file NOTICES: the licences of all modules that are linked into the programs
// of a release, and of Go itself. Use it when go.mod has changed; a test fails until then. Start with
//
//	go run ./bench/internal/notices > NOTICES
//
// A text that several modules share is printed once. The tool go-licenses of Google sorts licences into kinds, and
// drops the texts of a module that leaves a choice, as freetype does.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// programs are what a release has, and systems are those it is built for, see .goreleaser.yaml.
var programs = []string{"github.com/hushgrad/hushgrad/cmd/hushgrad", "github.com/hushgrad/hushgrad/cmd/hushgrad-broker", "github.com/hushgrad/hushgrad/cmd/hushgrad-draw", "github.com/hushgrad/hushgrad/examples/mnist"}

var systems = []string{"linux", "darwin", "windows"}

const head = `The programs hushgrad, hushgrad-broker, hushgrad-draw and hushgrad-demo are made of the modules below. Their own licence is in the file LICENSE. Each text below is
the licence, or another notice, of the modules that stand above it.
`

// write prints the notices.
func write(w io.Writer) error {
	texts := map[string][]string{} // what has this text
	for _, system := range systems {
		if err := collect(texts, system); err != nil {
			return err
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(root)), "LICENSE"))
	if err != nil {
		return err
	}
	texts[string(text)] = append(texts[string(text)], "the Go standard library: LICENSE")
	var out bytes.Buffer
	out.WriteString(head)
	all := make([]string, 0, len(texts))
	for text, owners := range texts {
		slices.Sort(owners)
		texts[text] = slices.Compact(owners)
		all = append(all, text)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(texts[a][0], texts[b][0]) })
	for _, text := range all {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 100), strings.Join(texts[text], "\n"), strings.Trim(strings.ReplaceAll(text, "\r", ""), "\n"))
	}
	_, err = w.Write(out.Bytes())
	return err
}

// linked is what go list says of a package.
type linked struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// collect adds the texts of all modules that a system's programs are made of.
func collect(texts map[string][]string, system string) error {
	list := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,Module", "-tags=grpcnotrace,noman"}, programs...)...)
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p linked
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		if err := p.texts(texts); err != nil {
			return err
		}
	}
}

// notice is the name of a file with a licence or another notice.
var notice = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|unlicense)([-.].*)?$`)

// texts adds the notices in the package's folder and those above it, up to the module's, and in the module's
// folder licenses.
func (p linked) texts(texts map[string][]string) error {
	found := false
	add := func(dir string, all bool) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if !entry.Type().IsRegular() || !all && !notice.MatchString(entry.Name()) || strings.HasSuffix(entry.Name(), ".go") {
				continue
			}
			file := filepath.Join(dir, entry.Name())
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(p.Module.Dir, file)
			if err != nil {
				return err
			}
			owner := fmt.Sprintf("%s %s: %s", p.Module.Path, p.Module.Version, filepath.ToSlash(name))
			texts[string(text)] = append(texts[string(text)], owner)
			found = found || dir == p.Module.Dir
		}
		return nil
	}
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		if err := add(dir, false); err != nil {
			return err
		}
		if dir == p.Module.Dir {
			break
		}
	}
	if err := add(filepath.Join(p.Module.Dir, "licenses"), true); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !found {
		return fmt.Errorf("%s %s has no file with its licence", p.Module.Path, p.Module.Version)
	}
	return nil
}
