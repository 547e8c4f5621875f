package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// NOTICES is what this command prints, the archives and the image of a release have it, and it names the
// modules whose licences ask for more than others.
func TestTheNoticesAreThoseOfTheLinkedModules(t *testing.T) {
	var want bytes.Buffer
	if err := write(&want); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../NOTICES")
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("NOTICES has %d bytes, %v, want %d: go run ./bench/internal/notices > NOTICES", len(got), err, want.Len())
	}
	for _, name := range []string{"github.com/golang/freetype ", "The FreeType Project LICENSE", "github.com/ajstarks/svgo ", "Creative Commons", "the Go standard library"} {
		if !bytes.Contains(got, []byte(name)) {
			t.Errorf("NOTICES does not have %q", name)
		}
	}
	for file, line := range map[string]string{"../../../.goreleaser.yaml": "{src: NOTICES,", "../../../docs/deploy/Dockerfile": "COPY LICENSE NOTICES /"} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), line) {
			t.Errorf("%s does not have %q, %v", file, line, err)
		}
	}
	if wd, err := os.Getwd(); err != nil || bytes.Contains(got, []byte(wd)) {
		t.Error("NOTICES has a path of this machine")
	}
}
