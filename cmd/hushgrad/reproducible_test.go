package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

var fresh = flag.Bool("fresh", false, "TestReleasesAreReproducible compiles every package again for its second build, which takes minutes")

// maxProgram is how many bytes hushgrad may have on linux/amd64.
const maxProgram = 25_000_000

// Two copies of the tree in folders of other names, built by users with another home, time zone and language, become the same
// bytes. Without -fresh the second build links anew and takes from the cache what has the same inputs: it proves that no path, no
// time and no environment is an input. With -fresh it compiles anew, too, and so proves that the compiler repeats itself. A build that has
// the time in it is noticed.
func TestReleasesAreReproducible(t *testing.T) {
	if !*long {
		t.Skip("links the program three times")
	}
	a, b := copyOfTheTree(t, "a"), copyOfTheTree(t, "another")
	first := buildRelease(t, a, "1.2.3", "TZ=UTC")
	other := []string{"TZ=Asia/Tokyo", "LANG=de_DE.UTF-8", "USER=other", "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	if *fresh {
		other = append(other, "GOCACHE="+t.TempDir())
	}
	second := buildRelease(t, b, "1.2.3", other...)
	if !bytes.Equal(first, second) {
		t.Errorf("%d bytes and %d bytes, which differ from byte %d on", len(first), len(second), differ(first, second))
	}
	if bytes.Contains(first, []byte(a)) {
		t.Errorf("the program holds the path %s", a)
	}
	if planted := buildRelease(t, b, "1.2.3+"+strconv.FormatInt(time.Now().UnixNano(), 10)); bytes.Equal(first, planted) {
		t.Error("a build with the time in it has the same bytes")
	}
	if runtime.GOOS+"/"+runtime.GOARCH == "linux/amd64" && len(first) > maxProgram {
		t.Errorf("hushgrad has %d bytes, want at most %d: see go run ./bench parts", len(first), maxProgram)
	}
}

// copyOfTheTree returns a folder with what the program is built from.
func copyOfTheTree(t *testing.T, name string) string {
	t.Helper()
	root := filepath.Join("..", "..")
	listing := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", ":!docs", ":!bench", ":!python", ":!*_test.go")
	listing.Dir = root
	files, err := listing.Output()
	if err != nil {
		t.Skipf("needs a clone: %v", err)
	}
	dir := filepath.Join(t.TempDir(), name)
	for _, file := range strings.Split(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue // it was deleted and not committed
		}
		to := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// buildRelease builds hushgrad in a folder as .goreleaser.yaml says, and returns its bytes.
func buildRelease(t *testing.T, dir, version string, env ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?s)main: \./cmd/hushgrad\n.*?\n    env: \[(.*?)\]\n.*?\n    flags: \[(.*?)\]\n    ldflags: \["(.*?)"\]`).FindStringSubmatch(string(text))
	if said == nil {
		t.Fatal("no build of ./cmd/hushgrad in .goreleaser.yaml")
	}
	program := filepath.Join(t.TempDir(), "hushgrad")
	args := append([]string{"build", "-buildvcs=false", "-o", program, "-ldflags", strings.ReplaceAll(said[3], "{{ .Version }}", version)}, strings.Split(strings.ReplaceAll(said[2], `"`, ""), ", ")...)
	build := exec.Command("go", append(args, "./cmd/hushgrad")...)
	build.Dir, build.Env = dir, append(os.Environ(), strings.Split(said[1], ", ")...)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} { // which follow HOME
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		build.Env = append(build.Env, name+"="+strings.TrimSpace(string(value)))
	}
	build.Env = append(build.Env, env...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// differ returns the first index at which two programs differ.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
