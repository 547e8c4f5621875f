package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
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

// Every file that .goreleaser.yaml packs is in the clone, or is made by its hooks. A package for Linux has what an archive has for operators.
func TestTheReleaseHoldsFilesThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	packed := map[string]int{}
	for _, m := range regexp.MustCompile(`- \{src: "?([^,"]+)"?, `).FindAllStringSubmatch(string(text), -1) {
		packed[m[1]]++
		if found, err := filepath.Glob(filepath.Join("..", "..", m[1])); !strings.HasPrefix(m[1], "out/release/") && len(found) == 0 {
			t.Errorf("%s: no such file, %v", m[1], err)
		}
	}
	for _, name := range []string{"alerts.yml", "grafana.json", "prometheus.yml", "*.toml", "*.service"} {
		if n := packed["docs/deploy/"+name]; n != 2 {
			t.Errorf("%s is packed %d times, want in an archive and in a package", name, n)
		}
	}
}

// The bill of materials of a release, made as .goreleaser.yaml and the workflow say, has every module of the program in its version.
func TestTheBillOfMaterialsIsComplete(t *testing.T) {
	if !*long {
		t.Skip("it builds the program, and the one that reads it")
	}
	workflow, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	maker := regexp.MustCompile(`go install (\S+/cyclonedx-gomod@\S+)`).FindSubmatch(workflow)
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	args := regexp.MustCompile(`cmd: cyclonedx-gomod\n +args: \[(.*)\]`).FindSubmatch(text)
	if maker == nil || args == nil {
		t.Fatal("the workflow or .goreleaser.yaml makes none")
	}
	dir := t.TempDir()
	program, document := filepath.Join(dir, "hushgrad"), filepath.Join(dir, "document")
	if err := os.WriteFile(program, buildRelease(t, copyOfTheTree(t, "tree"), "1.2.3"), 0o700); err != nil {
		t.Fatal(err)
	}
	line := strings.NewReplacer("$document", document, "$artifact", program).Replace(string(args[1]))
	if out, err := exec.CommandContext(t.Context(), "go", append([]string{"run", string(maker[1])}, strings.Split(line, ", ")...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var bill struct {
		Components []struct{ Name, Version string }
	}
	if text, err = os.ReadFile(document); err == nil {
		err = json.Unmarshal(text, &bill)
	}
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, c := range bill.Components {
		listed = append(listed, c.Name+"@"+c.Version)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) < 40 {
		t.Fatalf("the program has %d modules", len(info.Deps))
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !slices.Contains(listed, m.Path+"@"+m.Version) {
			t.Errorf("the bill has no %s %s", m.Path, m.Version)
		}
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
