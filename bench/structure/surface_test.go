package structure

import (
	"go/types"
	"strings"
	"testing"

	load "golang.org/x/tools/go/packages"
)

// public is true of a package that other modules can import.
func public(p *load.Package) bool {
	path, ours := inModule(p.PkgPath)
	return ours && p.Name != "main" && !strings.Contains("/"+path+"/", "/internal/")
}

// closed returns the types of internal packages that a type names, where other modules see it.
func closed(of types.Type) (names []string) {
	seen := map[types.Type]bool{}
	var visit func(types.Type)
	list := func(tuple *types.Tuple) {
		for v := range tuple.Variables() {
			visit(v.Type())
		}
	}
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			visit(types.Unalias(t))
		case *types.Named:
			if pkg := t.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path(), module) && strings.Contains(pkg.Path(), "/internal/") {
				names = append(names, t.String())
			}
			for arg := range t.TypeArgs().Types() {
				visit(arg)
			}
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		case *types.Chan:
			visit(t.Elem())
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		case *types.Signature:
			list(t.Params())
			list(t.Results())
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() || f.Embedded() {
					visit(f.Type())
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				visit(m.Type())
			}
		}
	}
	visit(of)
	return names
}

// What a public package exports can be written down by another module: no signature and no field
// names a type of an internal package.
func TestPublicSignaturesNameNoInternalTypes(t *testing.T) {
	t.Parallel() // it waits for the go command
	// The types come from the export data, which has what the signatures name of other packages.
	all, err := load.Load(&load.Config{Mode: load.NeedName | load.NeedTypes | load.NeedExportFile, Dir: root}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	exported := 0
	for _, p := range all {
		if !public(p) {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			object := p.Types.Scope().Lookup(name)
			if !object.Exported() {
				continue
			}
			exported++
			check := func(what string, of types.Type) {
				for _, internal := range closed(of) {
					t.Errorf("%s.%s names %s", p.PkgPath, what, internal)
				}
			}
			named, isType := object.Type().(*types.Named)
			if _, typeName := object.(*types.TypeName); !typeName || !isType {
				check(name, object.Type())
				continue
			}
			check(name, named.Underlying())
			for m := range named.Methods() {
				if m.Exported() {
					check(name+"."+m.Name(), m.Type())
				}
			}
		}
	}
	if exported < 300 {
		t.Errorf("found %d exported names", exported)
	}
}
