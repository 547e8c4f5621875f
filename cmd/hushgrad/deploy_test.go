package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const deployDir = "../../docs/deploy"

// The example files of the deployment page are what the commands accept.
func TestTheExampleConfigurationsAreAccepted(t *testing.T) {
	if err := parse("serve", &serveFlags{}, "-config", filepath.Join(deployDir, "serve.toml")); err != nil {
		t.Error(err)
	}
	if err := parse("shuffle", &shuffleFlags{}, "-config", filepath.Join(deployDir, "shuffle.toml")); err != nil {
		t.Error(err)
	}
	if err := parse("issue", &issueFlags{}, "-config", filepath.Join(deployDir, "issue.toml")); err != nil {
		t.Error(err)
	}
}

// tool returns the path of a program, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// systemd understands every line of the units and finds them well guarded.
func TestTheUnitsAreValidAndGuarded(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	for _, name := range []string{"hushgrad-serve.service", "hushgrad-shuffle.service", "hushgrad-issue.service"} {
		text, err := os.ReadFile(filepath.Join(deployDir, name))
		if err != nil {
			t.Fatal(err)
		}
		// The binary is not installed here.
		unit := writeFile(t, t.TempDir(), name, strings.ReplaceAll(string(text), "/usr/local/bin/hushgrad", "/bin/true"))
		if out, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		if out, err := exec.Command(analyze, "security", "--offline=yes", "--threshold=20", unit).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// isolate keeps what the page does to a machine in namespaces of its own: accounts and
// files are gone afterwards, ports are nobody else's, and no process stays behind.
const isolate = `
mount --make-rprivate /
copy=$(mktemp -d)
cp -a /etc/. "$copy"
for place in /etc /home /root /var/lib /var/log /usr/local/bin; do mount -t tmpfs -o mode=755 tmpfs $place; done
cp -a "$copy/." /etc
rm -r "$copy"
ip link set lo up 2>/dev/null || ifconfig lo up
`

// A new operator runs the blocks of the page in their order, with several accounts.
func TestTheDeploymentPageWorksFromTopToBottom(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the page is for root")
	}
	if !*long {
		t.Skip("runs with -long")
	}
	unshare := tool(t, "unshare")
	namespaces := []string{"--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if out, err := exec.Command(unshare, append(namespaces, "bash", "-euc", isolate)...).CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %v: %s", err, out)
	}
	for _, name := range []string{"openssl", "curl", "runuser", "setpriv", "useradd"} {
		tool(t, name)
	}
	page, err := os.ReadFile(filepath.Join(deployDir, "../deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	script := "set -euo pipefail\n" + isolate
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 10 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	for _, b := range blocks {
		script += "PS4='+ '; set -x\n" + b[1] + "{ set +x; } 2>/dev/null\n"
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "hushgrad"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.CopyFS(filepath.Join(dir, "docs", "deploy"), os.DirFS(deployDir)); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), unshare, append(namespaces, "bash", "-c", script+"echo the end of the page\n")...)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "the end of the page\n") {
		t.Errorf("%v:\n%s", err, out)
	}
}
