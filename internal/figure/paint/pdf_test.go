package paint_test

import (
	"bytes"
	"compress/zlib"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/internal/figure/paint"
)

// titles have characters that no code page has together.
var titles = []string{"central ε at δ = 10⁻⁶, τ·√n × µ ≥ ℓ₂", "units of τ", "ε = ∞ – nothing"}

func titled() figure.Figure {
	return figure.Figure{Title: titles[0], Panels: []figure.Panel{{XLabel: "clients", YLabel: titles[1], Series: []figure.Series{
		{Name: titles[2], X: []float64{1, 2}, Y: []float64{3, 4}, Style: figure.LinePoints},
	}}}}
}

var (
	stream = regexp.MustCompile(`(?s)stream\n(.*?)\nendstream`)
	shown  = regexp.MustCompile(`(?s)\(((?:\\.|[^\\)])*)\) ?Tj`)
	mapped = regexp.MustCompile(`<([0-9A-Fa-f]{4})>\s*<([0-9A-Fa-f]{4})>\s*<([0-9A-Fa-f]{4})>`)
)

// textOf returns the strings that a PDF shows, as a reader copies them: by the font's map to Unicode.
func textOf(t *testing.T, file []byte) (text []string) {
	t.Helper()
	var page, toUnicode string
	for _, m := range stream.FindAllSubmatch(file, -1) {
		content := m[1]
		if r, err := zlib.NewReader(bytes.NewReader(content)); err == nil {
			if content, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case bytes.Contains(content, []byte("beginbfrange")):
			toUnicode += string(content)
		case bytes.Contains(content, []byte("Tj")):
			page += string(content)
		}
	}
	ranges := mapped.FindAllStringSubmatch(toUnicode, -1)
	if len(ranges) != 1 || strings.Join(ranges[0][1:], " ") != "0000 FFFF 0000" {
		t.Fatalf("the font maps %q to Unicode, want each number to itself", ranges)
	}
	plain := strings.NewReplacer(`\\`, `\`, `\(`, `(`, `\)`, `)`, `\r`, "\r")
	for _, m := range shown.FindAllStringSubmatch(page, -1) {
		raw := plain.Replace(m[1])
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
		}
		text = append(text, string(utf16.Decode(units)))
	}
	return text
}

// A PDF says in Unicode what is drawn.
func TestThePDFHasItsText(t *testing.T) {
	f := titled()
	var file bytes.Buffer
	if err := paint.PDF(&file, &f); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(textOf(t, file.Bytes()), "\n")
	for _, want := range append([]string{"clients"}, titles...) {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}

// Another program reads the same, where it is installed.
func TestPdftotextReadsThePDF(t *testing.T) {
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext is not installed")
	}
	path := filepath.Join(t.TempDir(), "figure.pdf")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := titled()
	if err := paint.PDF(file, &f); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), "pdftotext", "-layout", path, "-").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, want := range []string{titles[0], titles[2]} { // the other one is upright
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}
