// Command gofonts compresses the Go fonts, from which digits and letters are drawn, for internal/glyph to embed.
// Use it when golang.org/x/image in go.mod has changed; a test fails until then. Start with
//
//	go run ./bench/internal/gofonts internal/glyph/gofonts
//
// The packages golang.org/x/image/font/gofont/… have the same bytes as Go source, which takes seconds to compile and makes
// hushgrad .9 MB larger.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
)

// fonts are the faces that are drawn, by the names of their files. The small-caps faces are left out: their digits are the
// digits of the regular and the italic face.
var fonts = map[string][]byte{
	"bold": gobold.TTF, "bolditalic": gobolditalic.TTF, "italic": goitalic.TTF, "medium": gomedium.TTF, "mediumitalic": gomediumitalic.TTF,
	"mono": gomono.TTF, "monobold": gomonobold.TTF, "monobolditalic": gomonobolditalic.TTF, "monoitalic": gomonoitalic.TTF, "regular": goregular.TTF,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gofonts DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gofonts:", err)
		os.Exit(1)
	}
}

// write writes a compressed file for each face into a directory.
func write(dir string) error {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	for name, ttf := range fonts {
		if err := os.WriteFile(filepath.Join(dir, name+".ttf.zst"), enc.EncodeAll(ttf, nil), 0o644); err != nil {
			return err
		}
	}
	return enc.Close()
}
