package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The archives of a release hold the manual pages and a completion for each shell: the hooks of
// .goreleaser.yaml call commands that are there, and what they write is packed.
func TestTheReleaseHoldsPagesAndCompletions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var shells []string
	for _, hook := range regexp.MustCompile(`(?m)^ +- .*go run .*\./cmd/hushgrad (.*?)"?$`).FindAllStringSubmatch(string(text), -1) {
		words := strings.Fields(hook[1])
		written := words[len(words)-1]
		switch words[0] {
		case "completion":
			shells = append(shells, words[1])
			var stdout, stderr bytes.Buffer
			if code := call(t.Context(), words[:2], &stdout, &stderr); code != 0 || len(words) != 4 || words[2] != ">" {
				t.Errorf("%s: exit code %d: %s", hook[1], code, stderr.String())
			}
			if !strings.Contains(string(text), "{src: "+written+", dst: completions/"+words[1]+",") {
				t.Errorf("no archive holds %s", written)
			}
		case "man":
			if !strings.Contains(string(text), `{src: "`+written+`/*.1", dst: share/man/man1,`) {
				t.Errorf("no archive holds the pages of %s", written)
			}
		default:
			t.Errorf("%s is another command", hook[1])
		}
		if !strings.HasPrefix(written, "out/") { // which git ignores
			t.Errorf("%s is written to the clone", written)
		}
	}
	root := newRoot()
	bindCompletion(root)
	completion, _, err := root.Find([]string{"completion"})
	if err != nil || !slices.Equal(shells, names(completion)) {
		t.Errorf("completions for %v, want %v, %v", shells, names(completion), err)
	}
	if n := strings.Count(string(text), " ./cmd/hushgrad man "); n != 1 {
		t.Errorf("%d hooks write manual pages", n)
	}
}

// Manual pages do not have the date of today where the packager gives one.
func TestManualPagesHaveTheDateOfTheRelease(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	dir := t.TempDir()
	do(t, "man", dir)
	page, err := os.ReadFile(filepath.Join(dir, "hushgrad.1"))
	if err != nil || !bytes.Contains(page, []byte(`"Sep 2001"`)) {
		t.Errorf("%v: %.100s", err, page)
	}
}
