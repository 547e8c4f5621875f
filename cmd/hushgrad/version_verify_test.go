package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// newReleaseKey returns a key for the tests: the private half, and the public one.
func newReleaseKey(t testing.TB) (private, public string) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "tests")
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

// signedSums signs a text of checksums.
func signedSums(t testing.TB, private, text string) []byte {
	t.Helper()
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// A file is verified when its checksum is in a file that a known key has signed, and otherwise an error says what is wrong.
func TestVersionVerifiesFiles(t *testing.T) {
	dir := t.TempDir()
	private, public := newReleaseKey(t)
	_, stranger := newReleaseKey(t)
	good, changed := writeFile(t, dir, "good", "program"), writeFile(t, dir, "changed", "Program")
	text := fmt.Sprintf("%x  linux/hushgrad\n", sha256.Sum256([]byte("program")))
	signed := signedSums(t, private, text)
	sums := writeFile(t, dir, "sums", string(signed))
	forged := writeFile(t, dir, "forged", strings.Replace(string(signed), "linux", "Linux", 1))
	odd := writeFile(t, dir, "odd", string(signedSums(t, private, "no checksum\n")))
	if said := printed(t, "version", "--verify", sums, "--key", public, "--file", good); !strings.Contains(said, "is linux/hushgrad of the release that tests has signed") || !strings.Contains(said, "path\t") {
		t.Errorf("printed %q", said)
	}
	var found verifiedFile
	if err := json.Unmarshal([]byte(printed(t, "version", "--verify", sums, "--key", public, "--file", good, "-o", "json")), &found); err != nil || found.Name != "linux/hushgrad" || found.Signer != "tests" {
		t.Errorf("%+v, %v", found, err)
	}
	for want, args := range map[string][]string{
		"which " + sums + " does not list":               {"--verify", sums, "--key", public, "--file", changed},
		"does not list: it is of another release":        {"--verify", sums, "--key", public}, // this binary
		"invalid signature":                              {"--verify", forged, "--key", public, "--file", good},
		"is signed by tests, whose key is not known":     {"--verify", sums, "--key", stranger, "--file", good},
		"must be a SHA-256, two spaces":                  {"--verify", odd, "--key", public, "--file", good},
		"must be NAME+HASH+KEY":                          {"--verify", sums, "--key", "tests", "--file", good},
		"--key: got \"\", rule: is required":             {"--verify", sums},
		"--file: got \"x\", rule: needs --verify":        {"--file", "x"},
		"--verify: open " + filepath.Join(dir, "absent"): {"--verify", filepath.Join(dir, "absent"), "--key", public},
		"malformed note":                                 {"--verify", writeFile(t, dir, "long", strings.Repeat("a", maxSums)+string(signed)), "--key", public, "--file", good},
	} {
		if said := refusal(t, append([]string{"version"}, args...)...); !strings.Contains(said, want) {
			t.Errorf("%q: %q, want %q", args, said, want)
		}
	}
}

// A program is verified by the tool that signs a release, as the workflow calls it: with the key of the workflow and no other one.
func TestAReleaseIsVerified(t *testing.T) {
	if !*long {
		t.Skip("builds the program")
	}
	private, public := newReleaseKey(t)
	tree := copyOfTheTree(t, "tree")
	if err := os.WriteFile(filepath.Join(tree, "cmd", "hushgrad", "releases.key"), []byte("# the release's key\n"+public+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dist := filepath.Join(t.TempDir(), "dist")
	program := filepath.Join(dist, "hushgrad_linux_amd64_v1", "hushgrad")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	built := buildRelease(t, tree, "1.2.3")
	if err := os.WriteFile(program, built, 0o700); err != nil {
		t.Fatal(err)
	}
	archive := sha256.Sum256([]byte("an archive"))
	writeFile(t, dist, "checksums.txt", fmt.Sprintf("%x  hushgrad.tar.gz\n", archive))
	sums := filepath.Join(dist, "checksums.note")
	workflow, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`go run (\./bench/internal/signsums) sign dist dist/checksums\.note\n`).FindSubmatch(workflow)
	if call == nil {
		t.Fatal("release.yml does not sign")
	}
	tool := exec.Command("go", "run", string(call[1]), "sign", dist, sums)
	tool.Dir, tool.Env = filepath.Join("..", ".."), append(os.Environ(), "HUSHGRAD_RELEASE_KEY="+private)
	if out, err := tool.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(args ...string) (string, error) {
		out, err := exec.Command(program, append([]string{"version", "--verify", sums}, args...)...).CombinedOutput()
		return string(out), err
	}
	said, err := run()
	if err != nil || !strings.Contains(said, "is hushgrad_linux_amd64_v1/hushgrad of the release that tests has signed") || !strings.Contains(said, "dep\tgithub.com/spf13/cobra\tv") || !strings.Contains(said, "\th1:") {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := run("--file", writeFile(t, dist, "hushgrad.tar.gz", "an archive")); err != nil || !strings.Contains(said, "is hushgrad.tar.gz of") {
		t.Errorf("the archive: %v: %s", err, said)
	}
	if err := os.WriteFile(program+".new", append(bytes.Clone(built), 0), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	if said, err := run(); err == nil || !strings.Contains(said, "does not list") {
		t.Errorf("a changed program: %v: %s", err, said)
	}
}

func FuzzOpenSums(f *testing.F) {
	private, public := newReleaseKey(f)
	known, err := (&provenance{key: public}).keys()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fmt.Sprintf("%x  a\n", sha256.Sum256(nil)))
	f.Add("a  b\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = openSums([]byte(text), known)
		signer, err := note.NewSigner(private)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := note.Sign(&note.Note{Text: text}, signer)
		if err != nil {
			return // no note
		}
		names, _, err := openSums(signed, known)
		if err == nil && len(names) > strings.Count(text, "\n") {
			t.Errorf("%d names in %q", len(names), text)
		}
	})
}
