package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The embedded fonts have the bytes of golang.org/x/image in go.mod, and no other file is beside them.
func TestTheEmbeddedFontsAreThoseOfTheModule(t *testing.T) {
	const dir = "../../../internal/glyph/gofonts"
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	for name, want := range fonts {
		data, err := os.ReadFile(filepath.Join(dir, name+".ttf.zst"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decoder.DecodeAll(data, nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v, want the module's %d: go run ./bench/internal/gofonts internal/glyph/gofonts", name, len(got), err, len(want))
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(fonts) {
		t.Errorf("%d files, %v, want %d", len(files), err, len(fonts))
	}
}
