package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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
