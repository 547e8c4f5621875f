package speed

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
)

// parts is the experiment that says which modules the size of the hushgrad binary is made of.
var parts = experiment.Experiment{
	Name:    "parts",
	Title:   "The size of the hushgrad binary by module, from its symbols",
	Source:  "No paper has it",
	Alone:   true,
	Without: []string{experiment.FlagData, experiment.FlagSeed, experiment.FlagRepeats, experiment.FlagQuick},
	Bind:    func(*flag.FlagSet) experiment.Run { return weighParts },
}

// Names of parts that no module has.
const (
	whole           = "hushgrad" // the binary
	standardLibrary = "standard library"
	shared          = "shared by all"
)

// size is the size of a part of a binary in bytes.
type size struct{ code, data, tables float64 }

func (s size) total() float64 { return s.code + s.data + s.tables }

func weighParts(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	root, err := checkout(ctx)
	if err != nil {
		return nil, err
	}
	if root == "" {
		return nil, fl.Invalid("directory", "no checkout", "must be within a checkout of the module")
	}
	dir, err := os.MkdirTemp("", "hushgrad-parts")
	if err != nil {
		return nil, err
	}
	defer remove(dir)
	trees, err := (&setting{}).build(ctx, env, root, dir, "hushgrad", "symbols")
	if err != nil {
		return nil, err
	}
	built, err := trees[0].size()
	if err != nil {
		return nil, err
	}
	sizes, err := sizesOf(trees[0].program("symbols"))
	if err != nil {
		return nil, err
	}
	all := size{}
	for _, s := range sizes {
		all = size{all.code + s.code, all.data + s.data, all.tables + s.tables}
	}
	sizes[shared] = size{data: built[binarySize] - all.total()}
	sizes[whole] = size{all.code, all.data + sizes[shared].data, all.tables}
	r := &experiment.Result{
		Columns: []string{"part", "megabytes", "code", "data", "tables"},
		Notes: []string{
			"code and data are the symbols of a module's packages. tables is a share of the tables of functions, in proportion to code.",
			fmt.Sprintf("%s is the binary as releases have it.", whole),
			fmt.Sprintf("%s is the rest of the binary: descriptions of types, short strings, and what surrounds all.", shared),
		},
	}
	const mega = 1e6
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b].total(), sizes[a].total()) }) {
		s := sizes[name]
		r.Rows = append(r.Rows, experiment.Row{name, s.total() / mega, s.code / mega, s.data / mega, s.tables / mega})
	}
	return r, nil
}

// sizesOf returns the size of each module in a binary with symbols.
func sizesOf(path string) (_ map[string]size, err error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	modules := []string{info.Main.Path}
	for _, d := range info.Deps {
		modules = append(modules, d.Path)
	}
	symbols, err := file.Symbols()
	if err != nil {
		return nil, err
	}
	sizes, code := map[string]size{}, 0.0
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF || int(s.Section) >= len(file.Sections) {
			continue
		}
		section := file.Sections[s.Section]
		if section.Type == elf.SHT_NOBITS || !owned(s.Name) {
			continue
		}
		name := moduleOf(s.Name, modules)
		part := sizes[name]
		if section.Flags&elf.SHF_EXECINSTR != 0 {
			part.code += float64(s.Size)
			code += float64(s.Size)
		} else {
			part.data += float64(s.Size)
		}
		sizes[name] = part
	}
	if table := file.Section(".gopclntab"); table != nil && code > 0 {
		for name, part := range sizes {
			part.tables = float64(table.FileSize) * part.code / code
			sizes[name] = part
		}
	}
	return sizes, nil
}

// owned reports whether a symbol belongs to a package. The linker's own do not: types, strings and
// tables of all packages together.
func owned(symbol string) bool {
	for _, prefix := range []string{"type:", "go:", "runtime.pclntab", "runtime.epclntab", "runtime.rodata", "runtime.types", "runtime.text", "runtime.gcbits"} {
		if strings.HasPrefix(symbol, prefix) {
			return false
		}
	}
	return true
}

// moduleOf returns the module of a symbol such as "golang.org/x/image/draw.(*Kernel).Scale[...]".
func moduleOf(symbol string, modules []string) string {
	name, _, _ := strings.Cut(symbol, "[")
	slash := strings.LastIndex(name, "/") + 1
	if dot := strings.Index(name[slash:], "."); dot >= 0 {
		name = name[:slash+dot]
	}
	name = strings.ReplaceAll(name, "%2e", ".")
	best := ""
	for _, m := range modules {
		if (name == m || strings.HasPrefix(name, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return cmp.Or(best, standardLibrary)
}
